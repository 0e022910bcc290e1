#include <fmt/format.h>

#include "tutti/graph/make/family/family.h"

namespace tutti {

Result<Graph> make_fork_join(const ForkJoinSpec& spec) {
  if (spec.stages < 1 || spec.width < 1) {
    return invalid_input("a fork-join graph has at least 1 stage of at least 1 op");
  }
  const double ops = static_cast<double>(spec.stages) * (static_cast<double>(spec.width) + 2);
  if (auto fits = check_made(3 * ops, spec.weights.most_made); !fits) return fits.error();
  Skeleton skeleton(fmt::format("fork_join_{}_{}", spec.stages, spec.width));
  std::vector<int32_t> before;
  for (int64_t stage = 0; stage < spec.stages; ++stage) {
    const int32_t fork = skeleton.add(fmt::format("fork.{}", stage), "fork", before);
    std::vector<int32_t> works;
    for (int64_t i = 0; i < spec.width; ++i) {
      works.push_back(skeleton.add(fmt::format("work.{}.{}", stage, i), "work", {&fork, 1}));
    }
    before = {skeleton.add(fmt::format("join.{}", stage), "join", works)};
  }
  return skeleton.dress(spec.weights);
}

}  // namespace tutti
