// What a runtime recorded of a job, and why its ops waited.

#ifndef TUTTI_SERVE_HISTORY_JOB_WAITS_H_
#define TUTTI_SERVE_HISTORY_JOB_WAITS_H_

#include <memory>
#include <vector>

#include "tutti/trace/job_record.h"

namespace tutti {

// One run of a job. Times are since it arrived at the runtime.
struct RunRecord {
  std::shared_ptr<const Problem> problem;
  Trace trace{};
  std::vector<OpPhases> phases{};  // empty: not noted
  Duration entered{0};             // it had waited for memory until then
  Duration completion{0};
};

// Of a job in an engine or a simulated cluster.
RunRecord run_record(const JobRecord& record);

// The longest way through the graph, every op on its fastest device and no transfers: the job takes
// no less, whatever else runs.
Duration critical_path(const Problem& problem);

// How long, and for what.
struct Waits {
  Duration deciding{0};  // the policy placed other ops first, or chose to wait
  Duration device{0};    // every device was full, or the op's own device was busy
  Duration operands{0};  // they were on their way
  Duration memory{0};    // the device had no room for its outputs

  Duration total() const { return deciding + device + operands + memory; }
  Waits& operator+=(const Waits& other);
};

struct OpWait {
  OpId op{};
  DeviceId device{};
  Duration ready{0};
  Duration started{0};
  Duration finished{0};
  Waits waits{};
};

// Of every op that ran, in the order in which they started. From the phases that the runtime noted;
// without them from the trace, which does not tell "deciding" from "every device was full" and
// knows of no wait for memory.
std::vector<OpWait> op_waits(const RunRecord& run);

}  // namespace tutti

#endif  // TUTTI_SERVE_HISTORY_JOB_WAITS_H_
