// A Judge tells how long a plan takes: it simulates it under one model, once or over several seeds.

#ifndef TUTTI_SEARCH_JUDGE_H_
#define TUTTI_SEARCH_JUDGE_H_

#include <cstdint>
#include <optional>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/sim/physical.h"
#include "tutti/runtime/sim/released.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {

// One object serves one thread.
class Judge {
 public:
  // Keeps a reference to the problem.
  Judge(const Problem& problem, SimModel model, ReadyOrder order = ReadyOrder::priority);

  // Durations are drawn with the seed if the costs have noise; otherwise they are the means.
  Result<Duration> makespan(const Plan& plan, uint64_t seed);

  // False if every seed gives the same makespan.
  bool depends_on_seed() const;

 private:
  const Problem& problem_;
  ReadyOrder order_;
  std::optional<ReleasedSimulator> released_;
  std::optional<PhysicalSimulator> physical_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_JUDGE_H_
