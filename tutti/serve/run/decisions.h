// The DecisionLog keeps the latest decisions and what spoke for them, for people to look at: which
// job was started, which op went to which device.
//
// Reasons are derived from the state: policies do not explain themselves. Where ops come faster
// than people read, most are only counted.

#ifndef TUTTI_SERVE_RUN_DECISIONS_H_
#define TUTTI_SERVE_RUN_DECISIONS_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/plan/policy.h"
#include "tutti/plan/world/decider.h"

namespace tutti {

struct ServedDecision {
  int64_t time_ms = 0;
  std::string job;
  std::string op{};      // empty: the job itself was started
  std::string device{};  // of an op
  std::string reason;
};

class DecisionLog {
 public:
  void add(ServedDecision decision);
  // The latest first: at most so many starts of jobs, and placements of ops.
  std::vector<ServedDecision> latest(size_t jobs, size_t ops) const;

  // Of ops, noted or not.
  int64_t op_count() const { return op_count_.load(std::memory_order_relaxed); }
  // Counts one more, and says whether it is worth noting: at most one each millisecond is.
  bool counts_and_notes(int64_t now_ms);

 private:
  std::atomic<int64_t> op_count_{0};
  std::atomic<int64_t> last_noted_ms_{0};
  mutable Mutex mutex_;
  // Apart, or ops would drive jobs out.
  std::deque<ServedDecision> jobs_ GUARDED_BY(mutex_);
  std::deque<ServedDecision> ops_ GUARDED_BY(mutex_);
};

// The same policy, whose placements go to the log. Keeps a reference to the log.
Policy recorded(Policy policy, std::string policy_name, std::string job, DecisionLog& log);

// An action of a decider in that state, which is the one before it is done: an op that it
// executes goes to the log, as one of the job of that name.
void note_action(const WorldState& state, const Action& action, const std::string& job,
                 DecisionLog& log);

// Milliseconds since 1970; at least 1, whatever the clock says: 0 is "not yet".
int64_t wall_clock_ms();

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_DECISIONS_H_
