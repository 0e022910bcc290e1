// The flops of one HLO instruction, by the rule of tutti/graph/kind/kind.h: one for each addition,
// multiplication, division, comparison or call of exp and the like on one element.

#ifndef TUTTI_GRAPH_IMPORT_HLO_FLOPS_H_
#define TUTTI_GRAPH_IMPORT_HLO_FLOPS_H_

#include <span>

#include "tutti/graph/import/hlo/scan.h"

namespace tutti {

// `applied` is what one call of its to_apply takes (a reduction's sum of two numbers). `known` is
// false for opcodes that are not counted here. Instructions that call whole computations (call,
// fusion, while, conditional) are the caller's to add up.
struct HloFlops {
  double flops = 0;
  bool known = true;
};
HloFlops hlo_flops(const HloParts& parts, std::span<const HloType* const> operands, double applied);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_FLOPS_H_
