#include "tools/print/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/print/color.h"

namespace tutti {

std::string Table::text() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (size_t at = 0; at < rows_.size(); ++at) {
    const auto& row = rows_[at];
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? fmt::format("  {:<{}}", row[i], widths[i])
                     : fmt::format("  {:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += (at > 0 && at == best_ ? colored(line, Color::green, stdout) : line) + "\n";
  }
  return text;
}

}  // namespace tutti
