// The rules of judge_jobs, gathered by what they are about. Only jobs.cc calls them; those after
// check_shape may take for granted that ids exist, that no op ran twice and that every op of a job
// that has ended ran.

#ifndef TUTTI_TRACE_CHECK_JOB_RULES_H_
#define TUTTI_TRACE_CHECK_JOB_RULES_H_

#include <string>
#include <vector>

#include "tutti/plan/check/verdict.h"
#include "tutti/trace/check_jobs.h"

namespace tutti::job_rules {

inline bool has_ended(const JobRecord& record) {
  return record.finish > Duration(0) || record.job->graph().size() == 0;
}

// Whether the transfer is one span from end to end, whatever hops its route has.
inline bool is_one_span(const Trace& trace, const TransferSpan& span) {
  return span.given || is_direct(trace);
}

// What a job did, by op and value.
struct JobFacts {
  const JobRecord* record = nullptr;
  bool ended = false;
  std::vector<const OpSpan*> spans{};  // by op; null: it did not run
  std::vector<Duration> placed{};      // by op; kNever: not recorded
  std::vector<Duration> present{};     // by value and memory: since when; kNever: never

  const Graph& graph() const { return record->job->graph(); }
  // "op 'a' of job 3".
  std::string name(OpId op) const;
};

struct Case {
  const Cluster& cluster;
  const JobsRecord& run;
  const JobsRules& rules;
  std::vector<JobFacts> jobs{};   // by JobId
  bool of_files = false;          // values are files, and in no memory
  bool has_placements = false;    // some op's is recorded; always, of a simulated run
  Duration known_until = kNever;  // the first arrival of a job that has not ended: what its ops did
                                  // at last is not recorded

  const Machine& machine() const { return cluster.machine(); }
  const std::string& device_name(DeviceId id) const { return machine().device(id).name; }
  const std::string& memory_name(MemoryId id) const { return machine().memory(id).name; }
  Duration present(const JobFacts& job, ValueId value, MemoryId memory) const {
    return job.present[static_cast<size_t>(value.index) * machine().memory_count() + memory.index];
  }
  // When the last operand of the op had come to that memory.
  Duration operands_present(const JobFacts& job, OpId op, MemoryId memory) const;
};

inline constexpr const char* kNoPlacements =
    "the run does not record when ops were given to devices";
inline constexpr const char* kFiles = "the values are files: none is sent or in a memory";

// Each of these begins the rules that it applies in the verdict, and sets aside what it cannot
// apply; their names stand in quotes.

// "identity", "shape": the record is of these graphs and this machine; ids, slots and times make
// sense; every op of a job that has ended ran once.
void check_shape(const Cluster& cluster, const JobsRecord& run, const JobsRules& rules,
                 Verdict& verdict);

// "jobs": each job begins with its first placement and ends with its last op; nothing of it happens
// before its arrival or after its end.
void check_jobs_times(const Case& trial, Verdict& verdict);

// "placement", "placing": ops ran on devices that may run them, and were given to them once, after
// their producers had ended and before they started.
void check_placement(const Case& trial, Verdict& verdict);

// "take-backs": an op that was taken back from a device had not started there, and was given to
// another, or to the same again, only afterwards.
void check_take_backs(const Case& trial, Verdict& verdict);

// "operands", "transfers": no op started before its operands were in its device's memory; values
// were sent from where they were, hop after hop along the route, and in simulated runs as soon as
// an op that reads them was given to a device there.
void check_operands(const Case& trial, Verdict& verdict);
void check_transfers(const Case& trial, Verdict& verdict);

// "slots": no two ops, of whatever jobs, share a slot at one time.
void check_slots(const Case& trial, Verdict& verdict);

// "queues": no device had more ops given to it that had not ended than it has slots and places in
// its queue. (An op gets a free slot when it is given, and the queue is served when a slot becomes
// free: a place in the queue is taken only while no slot is free.)
void check_queues(const Case& trial, Verdict& verdict);

// "waiting ops", work conservation: no slot of a device ran nothing while an op that was given to
// the device had its operands there.
void check_waiting(const Case& trial, Verdict& verdict);

// "contexts": reconfigurations take as long as the device says; a context is not reconfigured while
// it has an op, and each op was given to a context that was configured for its kind.
void check_contexts(const Case& trial, Verdict& verdict);

// "run times": nothing took less time than alone on the machine. "shares": each op and hop ended
// just when its max-min fair share of all that it draws on had done its work.
void check_run_times(const Case& trial, Verdict& verdict);
void check_shares(const Case& trial, Verdict& verdict);

}  // namespace tutti::job_rules

#endif  // TUTTI_TRACE_CHECK_JOB_RULES_H_
