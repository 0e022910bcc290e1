// Transfers that divide bandwidth: every flow over shared channels gets its max-min fair rate (no
// flow can be given more without taking from one that has no more; Bertsekas, Gallager, Data
// Networks, 1992), and is re-timed whenever a flow that it shares with, directly or through others,
// joins or ends. Flows that share nothing with those that changed are left alone.
//
// One object serves one simulation.

#ifndef TUTTI_RUNTIME_SIM_FLOWS_H_
#define TUTTI_RUNTIME_SIM_FLOWS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "tutti/machine/machine.h"

namespace tutti {

class Flows {
 public:
  explicit Flows(const Machine& machine);

  void reset();
  bool empty() const { return count_ == 0; }

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
    int64_t turn = 0;       // joined as the how-manieth
    bool crosses = false;   // more than one shared channel
    double own_limit = 0;   // of its channels that are not shared, bytes per ns
    double bytes_left = 0;  // at `seen`
    double bytes_per_ns = 0;
    double new_rate = 0;  // while rates are being worked out; -1: still rising
    Duration seen{0};
    Duration finish{0};
    bool gathered = false;
    bool fixed = false;
  };
  // The first flow to end on a channel.
  struct Finish {
    Duration time;
    int32_t channel;
    int32_t version;
    friend bool operator>(const Finish& a, const Finish& b) {
      return a.time != b.time ? a.time > b.time : a.channel > b.channel;
    }
  };

  bool is_shared(ChannelId channel) const { return shared_[channel.index] != 0; }
  void touch(const Hop& hop);
  void drop_stale();
  // Everything that shares, directly or through others, with a channel that was touched.
  void gather();
  void take_out(int32_t flow);
  // The common case, done without the general machinery: no flow of the channel crosses a second
  // shared one, and none is slower than an equal share. False, and nothing done, if it is not so.
  bool share_equally(int32_t channel, Duration now);
  void retime(Flow& flow, double rate, Duration now);
  void note_first_finish(int32_t channel);
  // Progressive filling: raise all rates together; fix what meets a limit; go on with the rest.
  void share_fairly();
  double next_level() const;
  bool stops_at(const Flow& flow, double level) const;

  std::vector<uint8_t> shared_;       // by channel
  std::vector<double> bytes_per_ns_;  // by channel
  std::vector<Flow> flows_;
  std::vector<int32_t> free_;  // entries of flows_ that can be used again
  int32_t count_ = 0;
  int64_t turn_ = 0;
  std::vector<std::vector<int32_t>> flows_on_;  // by channel
  std::vector<int32_t> crossing_;               // by channel: flows with a second shared channel
  std::vector<int32_t> touched_;                // channels whose flows must be re-timed
  std::vector<uint8_t> is_touched_;
  std::vector<int32_t> group_;         // the flows being re-timed
  std::vector<double> capacity_left_;  // by channel, bytes per ns
  std::vector<int32_t> rising_;        // by channel: flows whose rate is still rising
  std::vector<int32_t> version_;       // by channel: of its entry in finishes_
  std::vector<Finish> finishes_;       // a heap, the next on top; some entries are stale
  std::vector<std::pair<int64_t, int32_t>> ended_;  // (turn, transfer)
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_FLOWS_H_
