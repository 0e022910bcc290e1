// One computation of an HLO module as nodes and the arrays between them: tuples are gone, and
// optionally so is all that XLA removes before it fuses.

#ifndef TUTTI_GRAPH_IMPORT_HLO_FLAT_H_
#define TUTTI_GRAPH_IMPORT_HLO_FLAT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/graph/import/hlo/module.h"

namespace tutti {

struct HloNode {
  std::string name;
  const HloInstruction* instruction = nullptr;  // of the module
  std::string_view opcode{};                    // the instruction's, or what it is expanded to
  std::vector<int32_t> operands{};              // values
  std::vector<int32_t> runs_after{};            // values that must be there, and are not read
  int32_t first_value = 0;
  int32_t value_count = 0;
  double flops = 0;
  // The shape of the first operand as the node sees it: views in between are passed over.
  std::vector<int64_t> seen{};
  // Known before the run: a constant, or worked out of constants alone.
  bool constant = false;
  bool parameter = false;
};

struct HloValue {
  int32_t node = 0;
  HloType::Array type{};
};

struct HloFlat {
  std::vector<HloNode> nodes;  // each behind those that it reads
  std::vector<HloValue> values;
  std::vector<int32_t> results;  // values of the root
};

// How large each computation of a module becomes once its calls are inlined.
class HloExpansion {
 public:
  explicit HloExpansion(const HloModule& module);
  // In nodes and edges, at most 2^21.
  int64_t size(int32_t computation) const { return size_[computation]; }
  // Whether that is at most 2^20, with names of at most 2^28 bytes and calls at most 64 deep.
  bool fits(int32_t computation) const;

 private:
  std::vector<int64_t> size_;
  std::vector<int64_t> text_;
  std::vector<int> depth_;
};

// Every instruction but tuples and get-tuple-elements, as it stands.
HloFlat flatten_hlo(const HloModule& module, int32_t computation);

// As XLA's passes before fusion leave it: calls are inlined ("call/inner") if asked for, batch
// norms expanded to a reduction and an element-wise part, views (reshapes, bitcasts, broadcasts and
// transposes that move nothing) passed over, equal expressions merged, arithmetic on constants
// folded, and what no result needs left out. Parameters stay even if nothing reads them.
HloFlat simplify_hlo(const HloModule& module, int32_t computation, bool inline_calls);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_FLAT_H_
