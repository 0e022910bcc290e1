// What became of jobs that arrived: of each when it came, began and ended, and what its ops did;
// of the whole run, how many decisions it took. Simulated and real runs give the same.

#ifndef TUTTI_TRACE_JOB_RECORD_H_
#define TUTTI_TRACE_JOB_RECORD_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/plan/world_state.h"
#include "tutti/trace/trace.h"

namespace tutti {

struct JobRecord {
  JobId id{};
  std::shared_ptr<const Job> job;
  Duration arrival{0};
  Duration start{0};   // when its first op was given to a device; kNever: none was
  Duration finish{0};  // 0: it has not ended
  // If spans were recorded. Times since the run began; `placed` says when ops were given to their
  // devices.
  Trace trace{};

  Duration completion() const { return finish - arrival; }
  // Over the job's critical path: at least about 1.
  double slowdown() const {
    return static_cast<double>(completion().count()) /
           static_cast<double>(std::max<int64_t>(1, job->critical_path().count()));
  }
};

struct JobsRecord {
  std::vector<JobRecord> jobs;  // by JobId
  int64_t decisions = 0;
  double reward = 0;
  Duration makespan{0};
};

}  // namespace tutti

#endif  // TUTTI_TRACE_JOB_RECORD_H_
