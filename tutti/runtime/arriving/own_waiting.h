// What a run can tell of waiting that no counter of the host tells: an op on a CPU that takes
// longer than it does alone waits for its memory, and operands that take longer than the links
// alone would wait for a link. As counters of Quantity::waiting, from the last few ops.
//
// A core that somebody else uses makes ops longer too; what is said of a memory is then too much.
// That is why only ops that draw on it count.

#ifndef TUTTI_RUNTIME_ARRIVING_OWN_WAITING_H_
#define TUTTI_RUNTIME_ARRIVING_OWN_WAITING_H_

#include <vector>

#include "tutti/plan/dispatch.h"

namespace tutti {

class OwnWaiting {
 public:
  // Speaks of those of the counters that are of waiting.
  OwnWaiting(const Cluster& cluster, const std::vector<Counter>& counters);

  // An op was launched in that slot, in the state before that: what it has to fetch.
  void launched(const ClusterState& state, const Action& action, int32_t slot);
  // It has its operands; it has ended.
  void started(int32_t slot, Duration launched, Duration now);
  void finished(int32_t slot, const FinishedOp& op);

  // Fills in those counters of which anything is known.
  void read(std::vector<CounterReading>& readings) const;

 private:
  static constexpr size_t kWindow = 8;
  struct Told {
    int counter = 0;
    Resource resource{};
    std::vector<double> last{};  // shares, the oldest is overwritten
    size_t next = 0;
  };
  struct Fetch {
    Duration alone{0};
    std::vector<Resource> channels{};
  };

  void add(const Resource& resource, double share);

  const Cluster& cluster_;
  std::vector<Told> told_;
  std::vector<Fetch> fetches_;  // by slot
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_ARRIVING_OWN_WAITING_H_
