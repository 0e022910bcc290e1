// Products in index notation: "ik,kj->ij" multiplies matrices, "bij,j->bij" scales columns. A
// letter is an index and has one size throughout; indices that the result lacks are summed over.

#ifndef TUTTI_GRAPH_KIND_EINSUM_H_
#define TUTTI_GRAPH_KIND_EINSUM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/result.h"

namespace tutti {

using Shape = std::vector<int64_t>;

struct Einsum {
  std::string first;
  std::string second;
  std::string out;
  std::string letters;         // those of `out` in order, then those summed over
  std::vector<int64_t> sizes;  // by place in `letters`

  Shape output_shape() const {
    return {sizes.begin(), sizes.begin() + static_cast<long>(out.size())};
  }
};

// Fails unless the text fits the two shapes: a letter per dimension, none twice in one operand, and
// every letter of the result in an operand.
Result<Einsum> parse_einsum(std::string_view text, const Shape& first, const Shape& second);

}  // namespace tutti

#endif  // TUTTI_GRAPH_KIND_EINSUM_H_
