// The simplest division of a machine among jobs: each job stays on one device, its home, where it
// would end first behind the jobs that are at home there already; of a device's jobs the one with
// the least work left goes first. Ops that cannot run there go to the free device where they end
// first. Nothing but these ops' values and the job's inputs is moved.
//
// Its distance to other deciders says what dividing a job between devices is worth.

#ifndef TUTTI_POLICY_ONLINE_EFT_WHOLE_JOB_H_
#define TUTTI_POLICY_ONLINE_EFT_WHOLE_JOB_H_

#include <map>
#include <vector>

#include "tutti/policy/online/openings.h"

namespace tutti {

class WholeJob final : public PlacingDecider {
 protected:
  void on_begin(const Cluster& cluster, uint64_t seed) override;
  void on_epoch(const WorldState& state) override;
  std::optional<Choice> choose(const WorldState& state) override;

 private:
  struct Home {
    DeviceId device{};
    double work = 0;   // ns on the device's slots
    double least = 1;  // ns on the quickest device of each op
  };
  const Home& home_of(const WorldState& state, const JobStatus& job);
  // What the device has to do still for the jobs that are at home there, over its slots.
  double load(const WorldState& state, DeviceId device) const;

  std::map<JobId, Home> homes_;
  std::vector<const JobStatus*> order_;
  std::vector<double> path_;  // by op
  std::vector<Opening> list_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_EFT_WHOLE_JOB_H_
