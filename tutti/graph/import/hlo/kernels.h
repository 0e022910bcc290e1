// The two steps of fuse.h: producers join the kernels that read them, then kernels of one shape are
// merged. For fuse.cc alone.

#ifndef TUTTI_GRAPH_IMPORT_HLO_KERNELS_H_
#define TUTTI_GRAPH_IMPORT_HLO_KERNELS_H_

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "tutti/graph/import/hlo/flat.h"

namespace tutti {

struct HloKernel {
  std::vector<int32_t> roots{};         // the nodes whose values it writes; ascending
  std::vector<int32_t> nodes{};         // all that it computes, roots among them
  std::unordered_set<int32_t> reads{};  // values
  std::vector<int32_t> follows{};       // values that must be there before, and are not read
  bool fusible = false;                 // others may join
  bool library = false;                 // a dot or convolution
  bool reduces = false;                 // what it writes is a reduction
  bool by_rows = false;                 // reduces rows on the way, as softmax does
  bool pointwise = false;               // every node is element-wise over `loop`
  std::vector<int64_t> loop{};          // what it runs over: its result, or what it reduces
  std::vector<int64_t> reduced{};       // dimensions of `loop`
  double elements = 0;                  // of `loop`
};

// XLA's limit on the operands and results of a kernel.
inline constexpr size_t kMostOperands = 96;

std::vector<HloKernel> make_hlo_kernels(const HloFlat& flat);

std::vector<HloKernel> merge_hlo_kernels(const HloFlat& flat, std::vector<HloKernel> kernels);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_KERNELS_H_
