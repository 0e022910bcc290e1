// What a run did with memories, channels and weights over time, how long its ops were expected to
// take, and what else could have been done with them: the parts of the page's data that answer
// "why is it not faster?".

#ifndef TUTTI_REPORT_RESOURCES_H_
#define TUTTI_REPORT_RESOURCES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

// One op of a plan on one device, all else being as planned.
struct ReportedAlternative {
  DeviceId device;
  bool chosen = false;  // by the plan
  Duration run_time{0};
  std::optional<Duration> makespan{};  // of the whole run; none: it cannot run there
  std::string obstacle{};              // then why
};

struct ExplainedOp {
  OpId op;
  std::string because{};                            // what its start waited for
  std::vector<ReportedAlternative> alternatives{};  // by device
};

// Of one plan, for as many ops as there was time for.
struct ReportedAlternatives {
  std::string plan;  // the file
  std::vector<ExplainedOp> ops{};
  std::string obstacle{};  // why there are none
};

// Of each memory no more points than this; each then stands for the most of its neighbours.
inline constexpr size_t kMostMemoryPoints = 4000;

// Members of the page's object: what each memory and channel can take at most.
void write_limits(const Problem& problem, JsonWriter& json);

// Members of a run's object. A plan has neither transfers nor copies, so that only its weights are
// known. Requires what critical_path_of_run requires.
void write_resources(const Problem& problem, const Trace& trace, bool is_plan, JsonWriter& json);

// A member of the page's object: null if there are none.
void write_alternatives(const std::optional<ReportedAlternatives>& alternatives, JsonWriter& json);

}  // namespace tutti

#endif  // TUTTI_REPORT_RESOURCES_H_
