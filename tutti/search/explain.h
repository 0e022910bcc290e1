// Why an op of a plan is where it is: what else could have been done with it, what each alternative
// would cost, and what decided when it starts.

#ifndef TUTTI_SEARCH_EXPLAIN_H_
#define TUTTI_SEARCH_EXPLAIN_H_

#include <optional>
#include <string>
#include <vector>

#include "tutti/search/evaluator.h"

namespace tutti {

struct Alternative {
  DeviceId device;
  bool chosen = false;
  Duration run_time{0};
  std::string obstacle{};              // why it cannot go there; empty: it can
  std::optional<Duration> makespan{};  // of the whole run if the op, alone, went there
};

struct Explanation {
  OpId op;
  Duration start{0};
  Duration finish{0};
  bool critical = false;                    // on the critical path: a delay of it delays everything
  std::string because{};                    // what it waited for
  std::vector<Alternative> alternatives{};  // by device
};

// Everything but the op, and what is colocated with it, stays as planned. Fails if the plan does
// not run.
Result<Explanation> explain(const Problem& problem, const Plan& plan, OpId op,
                            const SearchModel& model);

}  // namespace tutti

#endif  // TUTTI_SEARCH_EXPLAIN_H_
