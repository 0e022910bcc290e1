// Heterogeneous Earliest Finish Time (Topcuoglu, Hariri, Wu; TPDS 2002) over all jobs in the
// system, planned again at every decision: ready ops by descending upward rank, each to the slot
// where it would finish first, free now or not. Ops whose slot is free now are launched; the others
// wait for theirs.
//
// Departs: ranks are within each job; `age` adds that many times the time since the job came, so
// that large jobs do not starve small ones (0: ranks alone).

#ifndef TUTTI_POLICY_ONLINE_ONLINE_HEFT_H_
#define TUTTI_POLICY_ONLINE_ONLINE_HEFT_H_

#include <map>
#include <vector>

#include "tutti/policy/online/openings.h"

namespace tutti {

class OnlineHeft final : public PlacingDecider {
 public:
  explicit OnlineHeft(double age) : age_(age) {}

 protected:
  void on_begin(const Cluster& cluster, uint64_t seed) override;
  std::optional<Choice> choose(const WorldState& state) override;

 private:
  struct Candidate {
    double rank;
    const JobStatus* job;
    OpId op;
  };
  const std::vector<double>& ranks(const std::shared_ptr<const Job>& job);
  void gather(const WorldState& state);

  double age_;
  // By job; the pointer is kept so that no other job can take its place.
  std::map<std::shared_ptr<const Job>, std::vector<double>> ranks_;
  std::vector<Candidate> candidates_;
  std::vector<Duration> free_at_;     // by slot
  std::vector<OpKindId> configured_;  // by slot: once it is free
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_ONLINE_HEFT_H_
