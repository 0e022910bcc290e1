// A Job is a graph that a client submitted, and what has become of it. Jobs are named by an id: the
// client's own, or one that the server gives ("job-17").

#ifndef TUTTI_SERVE_JOURNAL_JOB_H_
#define TUTTI_SERVE_JOURNAL_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tutti/base/result.h"
#include "tutti/base/time.h"

namespace tutti {

enum class JobState : uint8_t {
  accepting,  // not yet on the disk: not acknowledged
  queued,
  running,
  done,
  failed,
  cancelled,
};
const char* to_text(JobState state);

// True once nothing will become of it any more.
inline bool is_over(JobState state) {
  return state == JobState::done || state == JobState::failed || state == JobState::cancelled;
}

// Points in time are milliseconds since 1970; 0: not yet.
struct JobFacts {
  int64_t number = 0;  // in the order of arrival, from 1
  std::string id;
  int32_t priority = 0;  // the greatest goes first
  std::string graph;     // its name
  int32_t ops = 0;
  JobState state = JobState::accepting;
  int32_t attempts = 0;  // how often it was started
  int64_t accepted_ms = 0;
  int64_t started_ms = 0;  // the last time
  int64_t ended_ms = 0;
  Duration makespan{0};     // of the run that completed, in the runtime's own time
  std::string message{};    // why it failed
  std::string client{};     // the submitter, by name of the token; empty: no token was needed
  int64_t deadline_ms = 0;  // it fails if it is not over by then; 0: there is none
  Duration work{0};         // device time that it takes at least, as far as is known
};

// What a client sends: our own graph format, or what to make (submission.h).
using Content = std::shared_ptr<const std::string>;

struct Submission {
  std::string id;  // empty: the server gives one
  int32_t priority = 0;
  std::string graph;
  int32_t ops = 0;
  Content content;
  std::string client{};
  int64_t deadline_ms = 0;
  Duration work{0};
  bool commands = false;  // its ops are programs
};

// How a run ended.
struct Outcome {
  JobState state = JobState::done;  // done, failed or cancelled
  Duration makespan{0};
  std::string message{};
};

// Ids are 1 to 200 letters, digits, '.', '_', '-' and ':', but not "." or "..", which addresses and
// folders give a meaning of their own. Those that begin with "job-" are given by
// the server alone. Fails with a sentence.
Result<void> check_job_id(std::string_view id);

inline constexpr int32_t kMostPriority = 1000;  // and the least is its opposite

}  // namespace tutti

#endif  // TUTTI_SERVE_JOURNAL_JOB_H_
