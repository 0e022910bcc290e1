// Planning for throughput: the plan with the least time per pass when passes of the graph follow
// one another (tutti/runtime/sim/passes.h).
//
// Candidates are the plan for one pass (auto), those of all policies, pipeline splits (splits.h),
// and local search on the largest load from the best of these (balance.h). Each is judged by its
// steady state in the simulator, or by the most loaded device if that takes longer. The load of a
// device is its work. If transfer times are given with the graph it is work and transfers
// (loads.h): in the simulator such transfers meet nothing, which no link does pass after pass.

#ifndef TUTTI_SEARCH_THROUGHPUT_THROUGHPUT_H_
#define TUTTI_SEARCH_THROUGHPUT_THROUGHPUT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tutti/runtime/sim/passes.h"
#include "tutti/runtime/sim/physical.h"
#include "tutti/search/auto.h"
#include "tutti/search/throughput/loads.h"

namespace tutti {

// How a plan does when it is carried out again and again.
struct PassTimes {
  Duration per_pass{0};      // what plans are compared by: the larger of the next two
  Duration simulated{0};     // the steady state in the simulator
  Duration largest_load{0};  // of any device
  Duration one_pass{0};      // the makespan of a pass alone
  int in_flight = 1;
};

// Judges plans of one problem. One object serves one thread.
class PassJudge {
 public:
  // Keeps a reference to the problem. Fails as Passes::make does.
  static Result<PassJudge> make(const Problem& problem, int in_flight);

  // If memory is too small for what K passes hold together, as many of them as do fit of K/2, K/4,
  // ..., 1 are in flight. A plan that is quicker one pass at a time is carried out so. Fails if it
  // does not run at all. Requires a plan that check_plan accepts.
  Result<PassTimes> times(const Plan& plan, const Stop& stop = {});

  const LoadModel& loads() const { return *loads_; }
  // Simulations so far.
  int64_t evaluations() const { return evaluations_; }

 private:
  explicit PassJudge(const Problem& problem);
  Result<Duration> time_per_pass(size_t way, const Plan& plan, const Stop& stop);

  const Problem* problem_;
  std::unique_ptr<LoadModel> loads_;
  std::unique_ptr<PhysicalSimulator> alone_;
  std::vector<int> in_flight_{};                 // K, K/2, ..., 1
  std::vector<std::optional<Passes>> passes_{};  // of each, made when it is needed
  int64_t evaluations_ = 0;
};

struct TriedThroughput {
  std::string policy;
  PassTimes times{};
  std::string refusal{};  // why it has no plan that runs
  bool late = false;      // because time was short
};

struct ThroughputResult {
  Plan plan;  // plan.passes is stated
  PassTimes times{};
  // The plan that auto makes for one pass; none if it was not asked for, or has none.
  std::optional<PassTimes> for_one_pass{};
  std::vector<TriedThroughput> tried{};
};

// The policies of this objective, in addition to those of find_planner(): "pipeline", which is
// splits and local search alone. ("auto" is all candidates.)
inline constexpr const char* kPipelinePolicy = "pipeline";

// "auto" asks for all candidates; any other name but "pipeline" is that planner, whose plan is
// judged by its time per pass. Fails (infeasible) if no candidate runs, and as find_planner does.
// Under a count of evaluations the result depends on nothing else than the inputs and the seed. The
// timeline of the plan is that of one pass alone.
Result<ThroughputResult> plan_for_throughput(const Problem& problem, const std::string& policy,
                                             int in_flight, const AutoSettings& settings);

}  // namespace tutti

#endif  // TUTTI_SEARCH_THROUGHPUT_THROUGHPUT_H_
