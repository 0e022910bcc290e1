// Scanning HLO text: one instruction or header after another, as one line each, and its words.

#ifndef TUTTI_GRAPH_IMPORT_HLO_SCAN_H_
#define TUTTI_GRAPH_IMPORT_HLO_SCAN_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/graph/import/hlo/module.h"
#include "tutti/graph/import/text.h"

namespace tutti {

// An instruction as it stands, before its names are looked up.
struct HloParts {
  bool root = false;
  std::string_view name{};
  HloType type{};
  std::string_view opcode{};
  std::vector<std::string_view> operands{};  // names; for parameter and constant what they hold
  std::vector<std::pair<std::string_view, std::string_view>> attributes{};

  // Empty if it is not there.
  std::string_view attribute(std::string_view key) const;
};

// The text refers to `line`, which must outlive it.
Result<HloParts> scan_hlo_instruction(std::string_view line);

// Whole numbers in a text such as "{0,1}" or "3x3"; others are passed over.
std::vector<int64_t> hlo_numbers(std::string_view text);

// The names in "{%a, %b}" or "%a", without the percent signs.
std::vector<std::string_view> hlo_names(std::string_view text);

// Whether every bracket and quotation mark that a text opens is closed in it.
class HloBrackets {
 public:
  void feed(std::string_view text);
  bool closed() const { return depth_ <= 0 && !quoted_; }

 private:
  int64_t depth_ = 0;
  bool quoted_ = false;
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_SCAN_H_
