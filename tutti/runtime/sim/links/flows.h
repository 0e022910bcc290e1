// Transfers that divide bandwidth: every flow over shared channels gets its max-min fair rate (no
// flow can be given more without taking from one that has no more; Bertsekas, Gallager, Data
// Networks, 1992), and is re-timed whenever a flow that it shares with, directly or through others,
// joins or ends. Flows that share nothing with those that changed are left alone. Where no flow can
// be slower than an equal share, an EqualShare does the same for less.
//
// One object serves one simulation.

#ifndef TUTTI_RUNTIME_SIM_LINKS_FLOWS_H_
#define TUTTI_RUNTIME_SIM_LINKS_FLOWS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/runtime/sim/links/earliest_of.h"
#include "tutti/runtime/sim/links/equal_share.h"

namespace tutti {

class Flows {
 public:
  explicit Flows(const Machine& machine);

  void reset();

  // A transfer begins to move `bytes` over a hop that has a shared channel.
  void join(Duration now, int32_t transfer, const Hop& hop, double bytes);

  // Takes out the flows that end at `now` or before, and appends them to `finished` by the time
  // they end and then by the time they joined.
  void advance(Duration now, std::vector<int32_t>& finished);

  // When the next flow ends if nothing joins; kNever if there is none. Re-times what has changed.
  Duration next_finish(Duration now);

 private:
  struct Flow {
    int32_t transfer = 0;
    const Hop* hop = nullptr;
    int64_t turn = 0;       // join order
    double bytes_left = 0;  // at `seen`
    double bytes_per_ns = 0;
    double new_rate = 0;  // while rates are being worked out; -1: still rising
    Duration seen{0};
    Duration finish{0};
    bool gathered = false;
    bool fixed = false;
  };
  void touch(const Hop& hop);
  // Everything that shares, directly or through others, with a channel that was touched.
  void gather();
  void take_out(int32_t flow);
  // Moves the flow to `now` and gives it a rate.
  static void retime(Flow& flow, double rate, Duration now);
  void retime_touched(Duration now);
  // Progressive filling: raise all rates together; fix what meets a limit; go on with the rest.
  void share_fairly();
  double next_level() const;
  bool stops_at(const Flow& flow, double level) const;

  std::vector<EqualShare> equal_shares_;
  std::vector<int32_t> equal_share_of_;  // by channel: into equal_shares_, or -1
  std::vector<double> bytes_per_ns_;     // by channel
  std::vector<Flow> flows_;
  std::vector<int32_t> free_;  // entries of flows_ that can be used again
  int64_t turn_ = 0;
  std::vector<std::vector<int32_t>> flows_on_;  // by channel
  std::vector<int32_t> touched_;                // channels whose flows must be re-timed
  std::vector<uint8_t> is_touched_;
  std::vector<int32_t> group_;                      // the flows being re-timed
  std::vector<double> capacity_left_;               // by channel, bytes per ns
  std::vector<int32_t> rising_;                     // by channel: flows whose rate is still rising
  EarliestOf first_finish_;                         // by channel
  std::vector<std::pair<int64_t, int32_t>> ended_;  // (turn, transfer)
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_LINKS_FLOWS_H_
