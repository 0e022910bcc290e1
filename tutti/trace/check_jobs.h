// The judge of runs of arriving jobs. It shares no code with any runtime: from the cluster and the
// record alone it recomputes where each value was when, what each device had been given, which kind
// each context was configured for, and, of simulated runs, how shared resources were divided.

#ifndef TUTTI_TRACE_CHECK_JOBS_H_
#define TUTTI_TRACE_CHECK_JOBS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tutti/plan/check/verdict.h"
#include "tutti/trace/job_record.h"

namespace tutti {

struct JobsRules {
  // A run on real devices: times are measured, so that it is not known how long things should have
  // taken. The order of things, slots, queues, placement and transfers are judged all the same.
  bool measured = false;
  // How many ops may wait behind the busy slots of a device; the most, if it changed.
  int32_t queue_depth = 0;
  // How long a real device may take to notice what it can do, or a real runtime that a job has
  // ended. Simulated ones take no time.
  Duration patience = std::chrono::milliseconds(200);
  // Of a simulated run: what each resource really carries, in the order of
  // cluster.resources().list(). Empty: what the machine states.
  std::vector<double> capacities{};
  bool noise = false;        // durations were drawn
  bool hidden_load = false;  // processes that are not in the record used resources too
  int limit = 20;
};

// All rules for runs of jobs, in the order in which they are looked at.
std::span<const Rule> jobs_rule_table();

// What breaks the rules, one sentence each, and which rules could not be applied to this run. The
// record must have spans. See tutti/trace/check/job_rules.h for the rules.
Judgement judge_jobs(const Cluster& cluster, const JobsRecord& run, const JobsRules& rules = {});

// The sentences alone; none if the run is good.
std::vector<std::string> check_jobs(const Cluster& cluster, const JobsRecord& run,
                                    const JobsRules& rules = {});

}  // namespace tutti

#endif  // TUTTI_TRACE_CHECK_JOBS_H_
