// What the kernel of a product computes besides it. cuDNN adds a bias and applies a ReLU to what it
// makes. XLA writes products of matrices with Triton, or calls cuBLAS where that measures faster;
// either way behind the product only what can be done to parts of its sum: a scale, a sign, a
// narrower type. A bias is not among that.

#ifndef TUTTI_GRAPH_IMPORT_HLO_LIBRARY_CALLS_H_
#define TUTTI_GRAPH_IMPORT_HLO_LIBRARY_CALLS_H_

#include <cstdint>
#include <vector>

#include "tutti/graph/import/hlo/flat.h"

namespace tutti {

// The nodes that read each value, and the values that are results.
struct HloUses {
  explicit HloUses(const HloFlat& flat);

  std::vector<std::vector<int32_t>> users;  // by value; ascending, each once
  std::vector<bool> kept;                   // by value: a result, or something runs after it

  // The node that alone reads the value, or -1.
  int32_t only_user(int32_t value) const {
    return !kept[value] && users[value].size() == 1 ? users[value][0] : -1;
  }
};

// By node: the last node of the library call that it is part of, or -1. Each call begins with a dot
// or convolution, each further node alone reads the one before.
std::vector<int32_t> find_library_calls(const HloFlat& flat, const HloUses& uses);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_LIBRARY_CALLS_H_
