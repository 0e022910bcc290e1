// Which instructions of a module XLA would run as one kernel, for modules that it has not optimised
// yet. After XLA's passes for GPUs of compute capability 8.0 or later (openxla/xla,
// xla/service/gpu/transforms), each by its rule and without its cost model:
//
// - priority_fusion: an element-wise op, broadcast, slice or the like becomes part of all kernels
//   that read it, computed again in each, if all of them can take it and less is moved that way. A
//   reduction takes what it reads, and an element-wise epilogue of its own size.
// - softmax_rewriter_triton: a reduction of rows whose result only the same rows read, as in
// softmax
//   and layer norm, joins the kernel that reads it.
// - multi_output_fusion: kernels of one shape that read the same array become one with several
//   results, and so does a kernel with the one that reads it.
// - gemm_fusion: a dot takes transposes, widening conversions, scales and offsets by a broadcast
//   parameter of what it reads, and a scale or narrowing conversion of what it makes; no bias.
// - dot_merger: products that share a factor are one, if one of two is small.
// - cudnn_fused_conv_rewriter: convolutions are library calls; a bias and a ReLU that alone read
//   the product are part of the call.
//
// What XLA has and this does not: horizontal fusion of unrelated kernels, products split along the
// summed axis, what cuBLAS leaves to kernels of its own where it is faster than Triton, copies that
// layouts ask for.

#ifndef TUTTI_GRAPH_IMPORT_HLO_FUSE_H_
#define TUTTI_GRAPH_IMPORT_HLO_FUSE_H_

#include <cstdint>
#include <vector>

#include "tutti/graph/import/hlo/flat.h"

namespace tutti {

// Nodes that run as one op. A node can be in several groups, which all compute it; what a group
// makes is made by no other.
struct HloGroup {
  int32_t root = 0;                // the node that the op is named after
  std::string_view kind{};         // its opcode, that of the library call, or "fusion"
  std::vector<int32_t> nodes{};    // ascending; the root among them
  std::vector<int32_t> reads{};    // values of other groups, parameters and constants; ascending
  std::vector<int32_t> makes{};    // values that are results or that other groups read
  std::vector<int32_t> follows{};  // values that must be there before, and are not read
};

// All nodes but parameters and constants, in an order in which they can run. A constant of one
// element is part of the kernels that use it and is not read. The same in every run; the time grows
// with the nodes and edges of `flat`, but for a logarithm.
std::vector<HloGroup> fuse_hlo(const HloFlat& flat);

// Each node for itself, in the order of the module.
std::vector<HloGroup> separate_hlo(const HloFlat& flat);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_FUSE_H_
