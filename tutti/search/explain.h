// Why an op of a plan is where it is: what else could have been done with it, what each alternative
// would cost, and what decided when it starts.

#ifndef TUTTI_SEARCH_EXPLAIN_H_
#define TUTTI_SEARCH_EXPLAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/search/evaluate/evaluator.h"

namespace tutti {

struct Alternative {
  DeviceId device;
  bool chosen = false;
  Duration run_time{0};                // the mean
  std::string obstacle{};              // why it cannot go there; empty: it can
  std::optional<Duration> makespan{};  // of the whole run if the op, alone, went there
};

struct Explanation {
  OpId op;
  Duration start{0};
  Duration finish{0};
  // On the critical path of the run, as tutti/trace/critical_path.h finds it.
  bool critical = false;
  std::string because{};  // what it waited for last
  // All of this, but for run times, is of the scenario drawn with this seed; none if nothing is
  // random.
  std::optional<uint64_t> scenario{};
  std::vector<Alternative> alternatives{};  // by device
};

// Explains one run: that of the first scenario that the model names. Everything but the op, and
// what is colocated with it, stays as planned. Fails if the plan does not run.
Result<Explanation> explain(const Problem& problem, const Plan& plan, OpId op,
                            const SearchModel& model);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXPLAIN_H_
