// Makes an HloModule instruction by instruction: looks names up, counts flops and the rounds of
// loops. Readers of HLO and of StableHLO text share it, so that equal programs become equal
// modules. Errors are sentences without file and line, which the reader adds.

#ifndef TUTTI_GRAPH_IMPORT_HLO_MODULE_BUILDER_H_
#define TUTTI_GRAPH_IMPORT_HLO_MODULE_BUILDER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/graph/import/hlo/module.h"
#include "tutti/graph/import/hlo/scan.h"
#include "tutti/graph/name_table.h"

namespace tutti {

class HloModuleBuilder {
 public:
  // A computation that is being read; several can be open at once.
  struct Open {
    std::string name{};
    NameTable names{};
    std::vector<HloInstruction> instructions{};
    int32_t root = -1;
    std::unordered_map<int32_t, int64_t> constants{};  // scalars, by instruction
    // Comparisons "x < constant": as the root of a condition, the rounds of the loop.
    std::unordered_map<int32_t, int64_t> bounds{};
    double flops = 0;
  };

  // Behind all that the computation has. Fails on a name that is taken or operands that are
  // not defined, and on a called computation that is not closed yet.
  Result<void> add(Open& open, const HloParts& parts);

  // Fails if there is a computation of that name.
  Result<void> close(Open open, bool entry);

  HloModule& module() { return module_; }

 private:
  // What the caller of a computation asks of it.
  struct Called {
    int32_t number = 0;
    double flops = 0;
    // As the condition of a loop: the number that its counter stays below.
    std::optional<int64_t> bound{};
  };

  Result<void> note_attributes(const HloParts& parts, HloInstruction& instruction);
  Result<void> note_runs(const HloParts& parts, HloInstruction& instruction);
  Result<void> find_operands(const Open& open, const HloParts& parts, HloInstruction& instruction);
  static Result<void> check_tuple(const Open& open, const HloParts& parts,
                                  HloInstruction& instruction);
  Result<const Called*> find_called(std::string_view name) const;
  Result<double> flops_called(std::string_view names, bool largest = false) const;
  Result<void> count_flops(const Open& open, const HloParts& parts, HloInstruction& instruction);
  Result<void> count_loop(const HloParts& parts, HloInstruction& instruction);
  static void note_numbers(Open& open, const HloParts& parts, const HloInstruction& instruction,
                           int32_t number);

  HloModule module_;
  int64_t edges_ = 0;
  std::unordered_map<std::string, Called> called_;
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_HLO_MODULE_BUILDER_H_
