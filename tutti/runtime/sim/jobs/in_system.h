// How many jobs were in the system, over time: from their arrival to their end. Computed from the
// records of a run, simulated or real.

#ifndef TUTTI_RUNTIME_SIM_JOBS_IN_SYSTEM_H_
#define TUTTI_RUNTIME_SIM_JOBS_IN_SYSTEM_H_

#include <span>
#include <vector>

#include "tutti/trace/job_record.h"

namespace tutti {

struct JobsInSystem {
  double mean = 0;  // over time, from the first arrival to the last end
  int64_t most = 0;
};

// Of jobs that have all ended.
JobsInSystem jobs_in_system(std::span<const JobRecord> jobs);

// The means over `count` intervals of equal length between two times. A job whose finish is 0 has
// not ended. Requires count > 0 and from < to.
std::vector<double> jobs_in_system(std::span<const JobRecord> jobs, Duration from, Duration to,
                                   int count);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_JOBS_IN_SYSTEM_H_
