// What a text of XLA's HLO says (openxla.org/xla/operation_semantics): computations of instructions
//
//   %dot.3 = f32[8,16]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
//
// A computation that is called stands before the one that calls it.

#ifndef TUTTI_GRAPH_IMPORT_HLO_MODULE_H_
#define TUTTI_GRAPH_IMPORT_HLO_MODULE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"
#include "tutti/graph/graph.h"

namespace tutti {

// An array, or a tuple of them as the list of its leaves.
struct HloType {
  struct Array {
    DType dtype = DType::unknown;
    std::vector<int64_t> dims{};
    int64_t bytes = 0;
    double elements() const;
  };
  bool tuple = false;
  std::vector<Array> leaves{};
  // For a tuple: where the leaves of each of its elements begin, and their number behind the last.
  std::vector<size_t> element_begin{};
};

struct HloInstruction {
  std::string name;
  std::string opcode;
  HloType type;
  std::vector<int32_t> operands{};    // earlier instructions of the computation, by number
  std::vector<int32_t> runs_after{};  // likewise, by control-predecessors
  int32_t index = 0;                  // of get-tuple-element; of a parameter its place, or -1
  double flops = 0;                   // of all computations that it calls, as often as it does
  std::vector<int64_t> dimensions{};  // that it reduces, broadcasts or transposes
  // Of both factors of a dot.
  std::array<std::vector<int64_t>, 2> batch_axes{};
  std::array<std::vector<int64_t>, 2> summed_axes{};
  int32_t feature_axis = -1;  // of what a dot or convolution makes: the axis of a bias
  bool zero = false;          // a constant of zeros
  uint64_t details = 0;       // a digest of all attributes but the metadata
  bool side_effect = false;   // must stay even if its results are not read
  // The computations that are run by it as they are: of a call, its one; of a while, condition and
  // body; of a conditional, its branches. What a reduction or a fusion applies is not among them.
  std::vector<int32_t> runs{};
};

struct HloComputation {
  std::string name;
  std::vector<HloInstruction> instructions;
  int32_t root = -1;  // -1: it has no instructions
};

struct HloModule {
  std::string name;
  std::vector<HloComputation> computations;  // each behind those that it runs
  int32_t entry = -1;
  // XLA has optimised it already: it is scheduled, or has fusion instructions.
  bool compiled = false;
  // For warnings: what the flops do not hold.
  std::set<std::string> opaque{};  // opcodes or targets of custom calls
  int unknown_loops = 0;           // while loops counted as one round
};

// Fails with file and line on what is not HLO, on names that are not defined before their use, on
// operands that do not fit their type, and where there is no entry computation.
Result<HloModule> read_hlo_module(Source& source);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_MODULE_H_
