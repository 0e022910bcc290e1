#include <algorithm>

#include "tutti/trace/check_rules.h"

namespace tutti::trace_rules {

void check_memory(const Case& trial, const std::vector<MemoryUse>& memories, Verdict& verdict) {
  for (size_t i = 0; i < memories.size(); ++i) {
    const MemoryId memory{static_cast<int32_t>(i)};
    const int64_t limit = trial.problem.memory_limit(memory);
    const MemoryUse& use = memories[i];
    const auto over = std::find_if(use.bytes.begin(), use.bytes.end(),
                                   [&](int64_t bytes) { return bytes > limit; });
    if (over == use.bytes.end()) continue;
    verdict.add("memory '{}' held {} bytes at {} ns, which is {} over its limit of {}",
                trial.problem.machine.memory(memory).name, *over,
                use.time[static_cast<size_t>(over - use.bytes.begin())].count(), *over - limit,
                limit);
  }
}

}  // namespace tutti::trace_rules
