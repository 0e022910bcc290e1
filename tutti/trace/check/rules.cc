#include "tutti/trace/check/rules.h"

#include <algorithm>
#include <cmath>

namespace tutti::trace_rules {

TimeRange possible_times(const Case& trial, Duration mean, const Noise& noise) {
  if (!trial.drawn(noise)) return {mean, mean};
  // A draw is rounded to the nearest nanosecond; the factors themselves to a few digits less.
  const auto mean_ns = static_cast<double>(mean.count());
  const double least = mean_ns * noise.least_factor() * (1 - 1e-12) - 0.5;
  const double most = mean_ns * noise.most_factor() * (1 + 1e-12) + 0.5;
  const double longest = static_cast<double>(kNever.count()) / 2;
  return {Duration(static_cast<int64_t>(std::max(0.0, std::ceil(least)))),
          most > longest ? kNever : Duration(static_cast<int64_t>(most))};
}

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
