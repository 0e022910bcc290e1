// What became of jobs that arrived: of each when it came, began and ended, and what its ops did;
// of the whole run, how many decisions it took. Simulated and real runs give the same.

#ifndef TUTTI_TRACE_JOB_RECORD_H_
#define TUTTI_TRACE_JOB_RECORD_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/plan/world/world_state.h"
#include "tutti/trace/trace.h"

namespace tutti {

// An op that was given to a device and taken back before it started.
struct TakenBack {
  OpId op{};
  DeviceId device{};
  Duration from{0};
  Duration until{0};
};

// A context that was configured for a kind of ops.
struct Reconfiguration {
  DeviceId device{};
  int context = 0;
  OpKindId kind{};  // in Cluster::kinds()
  Duration start{0};
  Duration finish{0};
};

// The way of an op from being ready to its start. Times since the run began.
struct OpPhases {
  OpId op{};
  Duration ready{0};    // its producers had ended
  Duration no_room{0};  // of the time until it was placed: no device had room for any op
  Duration placed{0};   // given to its device
  Duration fetched{0};  // its operands were there
  Duration taken{0};    // a slot was free for it
  Duration started{0};  // it had the memory that it needs
};

struct JobRecord {
  JobId id{};
  std::shared_ptr<const Job> job;
  Duration arrival{0};
  Duration start{0};   // when its first op was given to a device; kNever: none was
  Duration finish{0};  // 0: it has not ended
  // If spans were recorded. Times since the run began; `placed` says when ops were given to the
  // devices that they ran on, `taken_back` to which others, or when before.
  Trace trace{};
  std::vector<TakenBack> taken_back{};
  // If the runtime noted why ops waited.
  Duration entered{0};  // it had waited for memory until then
  std::vector<OpPhases> phases{};

  Duration completion() const { return finish - arrival; }
  // Over the job's critical path: at least about 1.
  double slowdown() const {
    return static_cast<double>(completion().count()) /
           static_cast<double>(std::max<int64_t>(1, job->critical_path().count()));
  }
};

struct JobsRecord {
  std::vector<JobRecord> jobs;                      // by JobId
  std::vector<Reconfiguration> reconfigurations{};  // if spans were recorded; by start
  int64_t decisions = 0;
  double reward = 0;
  Duration makespan{0};
};

}  // namespace tutti

#endif  // TUTTI_TRACE_JOB_RECORD_H_
