// What an op asks of a device, as far as its run time goes: how much it computes, reads and writes,
// and in which way. Two ops of one kind and the same work are taken to cost the same.

#ifndef TUTTI_COSTS_WORK_H_
#define TUTTI_COSTS_WORK_H_

#include <string>
#include <string_view>

#include "tutti/graph/graph.h"

namespace tutti {

struct OpWork {
  double flops = 0;
  double read_bytes = 0;     // all operands, or as much of them as is looked at
  double written_bytes = 0;  // all outputs
  // The attributes that decide how memory is walked, such as "axis=1" or "einsum=ab,bc->ac"; and
  // the dtype where it is another than f32. Often empty.
  std::string variant{};

  friend auto operator<=>(const OpWork&, const OpWork&) = default;
};

OpWork work_of(const Graph& graph, OpId op);

// The same product with its indices called a, b, c, ... in order of appearance: "xk,ky->xy" is
// "ab,bc->ac". Graphs name their indices as they like.
std::string canonical_einsum(std::string_view text);

}  // namespace tutti

#endif  // TUTTI_COSTS_WORK_H_
