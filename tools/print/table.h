// A Table lines up columns of text for a terminal: the first column left, the others right.

#ifndef TUTTI_TOOLS_PRINT_TABLE_H_
#define TUTTI_TOOLS_PRINT_TABLE_H_

#include <string>
#include <vector>

namespace tutti {

class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_TABLE_H_
