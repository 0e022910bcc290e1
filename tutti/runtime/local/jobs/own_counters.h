// What a run can report about itself where no counter of the host does:
//
//   waiting   of a memory: an op on it that takes longer than it does alone waits for it;
//             of a channel: operands that take longer than the links alone need wait for one;
//             both from the last few ops
//   busy      of an accelerator: the share of time in which own ops ran there, over the last
//             intervals; that is all there is on a partition that no other process uses
//
// A core that another process uses makes ops longer too; what is said of a memory is then too much.
// That is why only ops that draw on it count.

#ifndef TUTTI_RUNTIME_LOCAL_JOBS_OWN_COUNTERS_H_
#define TUTTI_RUNTIME_LOCAL_JOBS_OWN_COUNTERS_H_

#include <vector>

#include "tutti/plan/world/decider.h"

namespace tutti {

class OwnCounters {
 public:
  // Whether a run can tell it.
  static bool tells(const Machine& machine, const Counter& counter);

  // Speaks of those of the counters that it can tell.
  OwnCounters(const Cluster& cluster, const std::vector<Counter>& counters);

  // An op is given to a device, in the state before that: what it has to fetch.
  void launched(const WorldState& state, const Action& action);
  // It was taken back; it has started; it has ended, in that slot.
  void forget(JobId job, OpId op);
  void started(const JobStatus& job, OpId op);
  void finished(int32_t slot, const FinishedOp& op);

  // Fills in those counters of which anything is known.
  void read(Duration now, std::vector<CounterReading>& readings);

 private:
  static constexpr size_t kWindow = 8;
  static constexpr Duration kInterval = std::chrono::milliseconds(5);
  struct Told {
    int counter = 0;
    Resource resource{};
    std::vector<double> last{};  // shares, the oldest is overwritten
    size_t next = 0;

    void add(double share);
  };
  struct Busy {
    Told told{};
    DeviceId device{};
    int running = 0;
    Duration passed{0};  // until when `ran` is counted
    Duration since{0};   // the interval under way
    Duration ran{0};     // of its slots, together
  };
  struct Fetch {
    JobId job{};
    OpId op{};
    Duration alone{0};
    std::vector<Resource> channels{};
  };

  void add_waiting(const Resource& resource, double share);
  void pass(DeviceId device, Duration now, int begun);

  const Cluster& cluster_;
  std::vector<Told> waiting_;
  std::vector<Busy> busy_;
  std::vector<Fetch> fetches_;  // of ops that have not started
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_JOBS_OWN_COUNTERS_H_
