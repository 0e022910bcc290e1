#include "tutti/train/figures.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <cstdlib>

namespace tutti {

std::string exactly(double number) {
  return fmt::format("{:a}", number);
}

Result<double> figure_in(const TensorFile& file, const std::string& key, double fallback,
                         const std::string& path) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) return fallback;
  const std::string& text = found->second;
  char* end = nullptr;
  const double figure = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && std::isspace(static_cast<unsigned char>(text[0])) == 0 &&
                     end == text.c_str() + text.size();
  if (!whole || !std::isfinite(figure) || std::signbit(figure)) {
    return invalid_input(
        fmt::format("{}: '{}' is '{}', not a figure from 0 up; the checkpoint is spoilt, begin in "
                    "another folder",
                    path, key, text));
  }
  return figure;
}

}  // namespace tutti
