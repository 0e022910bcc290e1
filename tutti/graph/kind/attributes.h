// The attributes of an op as its kernel reads them: (key, text) pairs in which numbers, lists of
// numbers and lists of such lists are spelled "3", "1,2" and "0,0;0,4".

#ifndef TUTTI_GRAPH_KIND_ATTRIBUTES_H_
#define TUTTI_GRAPH_KIND_ATTRIBUTES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/result.h"

namespace tutti {

class Attributes {
 public:
  using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

  // Keeps the views: the text must outlive this.
  explicit Attributes(Pairs pairs) : pairs_(std::move(pairs)) {}

  std::optional<std::string_view> text(std::string_view key) const;
  // The fallback where there is no such attribute. Fail where it is no number of that sort.
  Result<int64_t> whole(std::string_view key, int64_t fallback) const;
  Result<double> number(std::string_view key, double fallback) const;
  // Empty where there is no such attribute. Fail where it is no such list.
  Result<std::vector<int64_t>> wholes(std::string_view key) const;
  Result<std::vector<std::vector<int64_t>>> rows(std::string_view key) const;

 private:
  Pairs pairs_;
};

// How attributes spell a list: "1,2".
std::string wholes_text(std::span<const int64_t> numbers);

}  // namespace tutti

#endif  // TUTTI_GRAPH_KIND_ATTRIBUTES_H_
