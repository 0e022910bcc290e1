// Asks a Decider about the jobs of one client at a time, in the order of ClientShares: the ledger
// hides the others' jobs while the Decider looks. If there is nothing to do for a client, the next
// one is tried. So every Decider divides device time among clients.
//
// For one thread, that of the ledger.

#ifndef TUTTI_PLAN_WORLD_SHARE_GATE_H_
#define TUTTI_PLAN_WORLD_SHARE_GATE_H_

#include <map>
#include <vector>

#include "tutti/plan/world/client_shares.h"
#include "tutti/plan/world/world_ledger.h"

namespace tutti {

class ShareGate {
 public:
  // Keeps a reference.
  explicit ShareGate(ClientShares& shares) : shares_(shares) {}

  // A job came to the ledger, or leaves it. Until then its account stays where it is.
  void add(JobId job, JobAccount* account) { accounts_[job] = account; }
  void remove(JobId job) { accounts_.erase(job); }
  // The same for a job whose ops will not end: those that were given to devices are taken back.
  void abandon(const JobStatus& job);

  // What the runtime does with ops of those jobs. Times are those of the ledger.
  void given(const JobStatus& job, OpId op, DeviceId device);
  void taken_back(const JobStatus& job, OpId op, DeviceId device);
  void ended(const Job& job, const FinishedOp& op, Duration now);

  // An action for which check_action is true of the whole state, or nothing. Nothing is hidden
  // afterwards. `now` is that of ClientShares.
  Action decide(WorldLedger& ledger, Decider& decider, Duration now);
  // The last answer was "nothing" because of quotas: ask again then. kNever: it was not.
  Duration ask_again() const { return ask_again_; }

 private:
  JobAccount* account_of(JobId job) const;
  // Shows the jobs of that client, and those without one, and no others.
  void show_only(WorldLedger& ledger, int32_t client);
  void show_all(WorldLedger& ledger);

  ClientShares& shares_;
  std::map<JobId, JobAccount*> accounts_;
  std::vector<JobId> all_;
  std::vector<int32_t> order_;
  Duration ask_again_ = kNever;
};

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_SHARE_GATE_H_
