// Transfers that divide bandwidth: every flow over shared channels gets its max-min fair rate (no
// flow can be given more without taking from one that has no more; Bertsekas, Gallager, Data
// Networks, 1992), and all are re-timed whenever one joins or ends.
//
// One object serves one simulation.

#ifndef TUTTI_RUNTIME_SIM_FLOWS_H_
#define TUTTI_RUNTIME_SIM_FLOWS_H_

#include <cstdint>
#include <vector>

#include "tutti/machine/machine.h"

namespace tutti {

class Flows {
 public:
  // Keeps a reference to the machine.
  explicit Flows(const Machine& machine);

  void reset();
  bool empty() const { return flows_.empty(); }

  // A transfer begins to move `bytes` over a hop.
  void join(Duration now, int32_t transfer, const Hop& hop, double bytes);

  // Moves every flow forward to `now` and appends those that have ended to `finished`.
  void advance(Duration now, std::vector<int32_t>& finished);

  // When the next flow ends if nothing joins; kNever if there is none. Works out the rates if
  // membership has changed.
  Duration next_finish();

 private:
  struct Flow {
    int32_t transfer;
    const Hop* hop;
    double bytes_left;
    double bytes_per_ns = 0;
  };

  // Progressive filling: raise all rates together; fix what meets a limit; go on with the rest.
  void share_fairly();
  // The most a flow can carry over its channels that are not shared.
  double own_limit(const Flow& flow) const;

  const Machine& machine_;
  Duration now_{0};
  bool changed_ = false;
  std::vector<Flow> flows_;
  std::vector<double> capacity_left_;   // by channel
  std::vector<int32_t> unfixed_;        // by channel: flows whose rate is still rising
  std::vector<int32_t> used_;           // channels in use
  std::vector<bool> fixed_;             // by flow
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_FLOWS_H_
