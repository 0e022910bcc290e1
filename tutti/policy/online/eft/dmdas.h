// After dmdas of StarPU (Augonnet, Thibault, Namyst, Wacrenier; CCPE 2011): an op that becomes
// ready is bound to a device at once, the one with the least
//
//   expected end + beta * time to fetch its operands
//
// where it waits by its upward rank. As many of its ops as a device's queue has places are given to
// the device at once, so that their operands are fetched ahead. What is bound does not move.
//
// Departs: several jobs share the machine, so that `age` adds that many times the time since the
// job came to a rank, as in online_heft.h.

#ifndef TUTTI_POLICY_ONLINE_EFT_DMDAS_H_
#define TUTTI_POLICY_ONLINE_EFT_DMDAS_H_

#include <map>
#include <vector>

#include "tutti/policy/online/openings.h"

namespace tutti {

struct DmdasSettings {
  double beta = 1;
  double age = 0;
};

class Dmdas final : public PlacingDecider {
 public:
  explicit Dmdas(const DmdasSettings& settings) : settings_(settings) {}

 protected:
  void on_begin(const Cluster& cluster, uint64_t seed) override;
  void on_epoch(const WorldState& state) override;
  std::optional<Choice> choose(const WorldState& state) override;

 private:
  struct OfJob {
    std::vector<double> ranks;
    std::vector<DeviceId> bound;  // by op; not valid: it was not ready yet
  };
  struct Candidate {
    double rank;
    const JobStatus* job;
    OpId op;
    DeviceId* bound;
  };
  void gather(const WorldState& state);
  DeviceId best_device(const WorldState& state, const JobStatus& job, OpId op) const;

  DmdasSettings settings_;
  std::map<JobId, OfJob> jobs_;
  std::vector<Candidate> candidates_;
  std::vector<Duration>
      waiting_;  // by device: run times of what is bound to it and waits, per slot
  std::vector<Opening> list_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_EFT_DMDAS_H_
