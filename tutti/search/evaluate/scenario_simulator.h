// A ScenarioSimulator tells how long a plan takes: it simulates it under one model, in one scenario
// at a time.

#ifndef TUTTI_SEARCH_EVALUATE_SCENARIO_SIMULATOR_H_
#define TUTTI_SEARCH_EVALUATE_SCENARIO_SIMULATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/sim/physical.h"
#include "tutti/runtime/sim/remembered_run.h"
#include "tutti/runtime/sim/sim.h"

namespace tutti {

// One object serves one thread.
class ScenarioSimulator {
 public:
  // Keeps a reference to the problem.
  ScenarioSimulator(const Problem& problem, SimModel model,
                    ReadyOrder order = ReadyOrder::priority);

  // Plans that differ in a few ops from the last of the same seed are quicker. Durations are drawn
  // with the seed if the costs have noise; otherwise they are the means. kNever if the makespan is
  // certain to be longer than `give_up_beyond`, or if it was stopped.
  Result<Duration> makespan(const Plan& plan, uint64_t seed, Duration give_up_beyond = kNever,
                            const Stop& stop = {});

  // False if every seed gives the same makespan.
  bool depends_on_seed() const;
  // False if the model ignores priorities.
  bool depends_on_priority() const;

  // These describe the last simulation, unless it was given up.
  Duration start(OpId op) const { return other_ ? other_->start(op) : physical_->start(op); }
  Duration finish(OpId op) const { return other_ ? other_->finish(op) : physical_->finish(op); }
  // What the op waited for last, as PhysicalSimulator says.
  OpId decided_by(OpId op) const {
    return other_ ? other_->decided_by(op) : physical_->decided_by(op);
  }
  // Replaces `path` by the ops that decided the makespan, last op first: from the op that ended
  // last back to the op whose value arrived last or that held its slot, and so on. These are the
  // ops of the path that tutti/trace/critical_path.h finds in a trace. The two may differ if a
  // transfer waited for another one or for memory, which the simulator does not record: that would
  // slow a search down.
  void critical_path(std::vector<OpId>& path) const;

 private:
  RememberedRun* remembered(uint64_t seed);

  const Problem& problem_;
  ReadyOrder order_;
  std::unique_ptr<PlanSimulator> other_;  // one of the two
  std::optional<PhysicalSimulator> physical_;
  std::map<uint64_t, RememberedRun> remembered_;  // by seed
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_EVALUATE_SCENARIO_SIMULATOR_H_
