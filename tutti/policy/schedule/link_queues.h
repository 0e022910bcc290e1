// LinkQueues estimate when a transfer arrives that must share its channels with others: it is given
// the first stretch of time in which all exclusive channels of a hop are free together, hop after
// hop. A channel that divides its bandwidth is booked for the time the bytes need of all of it;
// that does not keep a transfer from starting, only from ending sooner.
//
// The simulator hands channels out first come first served as the run goes; this is an estimate
// that can be had before the run, transfer by transfer, in any order.

#ifndef TUTTI_POLICY_SCHEDULE_LINK_QUEUES_H_
#define TUTTI_POLICY_SCHEDULE_LINK_QUEUES_H_

#include <cstdint>
#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/policy/schedule/timeline.h"

namespace tutti {

class LinkQueues {
 public:
  // Keeps a reference to the machine.
  explicit LinkQueues(const Machine& machine);

  // When a transfer that may start at `ready` arrives. `book` keeps its channels for it; `attempt`
  // keeps them only until the next begin_attempts: several transfers tried together, in the order
  // they become ready, queue behind each other.
  Duration book(const Route& route, int64_t bytes, Duration ready);
  Duration attempt(const Route& route, int64_t bytes, Duration ready);
  void begin_attempts() { ++round_; }

 private:
  enum class Mode { attempt, book };
  // One transfer at a time; an exclusive channel has as many as its capacity.
  struct Lane {
    Timeline booked;
    Duration attempted_until{0};  // of the round
    uint64_t round = 0;
  };
  struct Found {
    int32_t lane;
    Duration start;
  };

  Duration hop_end(const Hop& hop, int64_t bytes, Duration ready, Mode mode);
  // The first time at or after `ready` when a lane of the channel is free for that long.
  Found find(ChannelId channel, Duration ready, Duration length) const;
  Duration common_start(const Hop& hop, Duration ready, Duration length) const;
  void take(const Found& found, Duration length, Mode mode);
  // The same for a channel that divides its bandwidth: bytes go through in whatever time is left.
  Duration shared_end(ChannelId channel, int64_t bytes, Duration ready) const;
  void take_share(ChannelId channel, int64_t bytes, Duration ready, Mode mode);

  const Machine& machine_;
  uint64_t round_ = 1;
  std::vector<Lane> lanes_;
  std::vector<int32_t> lane_begin_;  // by channel
  std::vector<Sharing> sharing_;     // by channel
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_LINK_QUEUES_H_
