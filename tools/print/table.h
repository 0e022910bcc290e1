// A Table lines up columns of text for a terminal: the first column left, the others right. Rows
// that stand out are coloured where standard output takes colours.

#ifndef TUTTI_TOOLS_PRINT_TABLE_H_
#define TUTTI_TOOLS_PRINT_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // The row that was added last stands out: it is the best.
  void mark_best() { best_ = rows_.size() - 1; }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  size_t best_ = 0;  // 0: none, the header is there
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_TABLE_H_
