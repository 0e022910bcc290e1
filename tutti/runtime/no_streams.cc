#include "tutti/runtime/no_streams.h"

#include <fmt/format.h>

#include <vector>

namespace tutti {

Result<void> require_no_streams(const Problem& problem, const Plan& plan,
                                std::string_view runtime) {
  if (!plan.weights.stated()) return {};
  const std::vector<WeightUse> use = weight_use(problem, plan.weights, plan.placement);
  for (size_t i = 0; i < use.size(); ++i) {
    if (use[i].streamed == 0) continue;
    return invalid_input(fmt::format(
        "the plan streams {} weights to memory '{}', and {} cannot stream; simulate it, or plan "
        "with more memory so that all weights are kept",
        use[i].streamed, problem.machine.memory(MemoryId{static_cast<int32_t>(i)}).name, runtime));
  }
  return {};
}

}  // namespace tutti
