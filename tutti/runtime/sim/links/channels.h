// Which transfer may use which channel: exclusive channels carry up to their capacity of transfers
// at once and the others wait, first come first served. A hop takes all of its channels at the same
// time or none; a waiting hop never holds one, and never keeps back another that could start.
//
// Knows nothing of time. One object serves one simulation; a copy has the same requests.

#ifndef TUTTI_RUNTIME_SIM_LINKS_CHANNELS_H_
#define TUTTI_RUNTIME_SIM_LINKS_CHANNELS_H_

#include <cstdint>
#include <vector>

#include "tutti/machine/machine.h"

namespace tutti {

class Channels {
 public:
  // Keeps a reference to the machine.
  explicit Channels(const Machine& machine);

  void reset();

  // Queues a hop of a transfer behind all that asked before.
  void request(int32_t transfer, const Hop& hop);

  // Gives the channels of a hop back.
  void release(const Hop& hop);

  // True if nothing has asked or been given back since the last dispatch.
  bool idle() const { return candidates_.empty() && released_.empty(); }

  // Lets every hop start that can, and appends their transfers to `started`, oldest request first.
  void dispatch(std::vector<int32_t>& started);

 private:
  struct Request {
    int64_t turn;
    int32_t transfer;
    const Hop* hop;
    int32_t waited_on;  // the channel in whose queue it stood; -1: it is new
    friend bool operator>(const Request& a, const Request& b) { return a.turn > b.turn; }
  };
  using Queue = std::vector<Request>;  // a heap, oldest on top

  static void push(Queue& queue, const Request& request);
  static Request pop(Queue& queue);
  // The first exclusive channel of the hop that is full, or -1.
  int32_t full_channel(const Hop& hop) const;
  void offer_next_of(int32_t channel);

  const Machine* machine_;
  int64_t turn_ = 0;
  std::vector<int32_t> in_use_;    // by channel
  std::vector<Queue> waiting_;     // by channel
  std::vector<int32_t> released_;  // channels given back since the last dispatch
  Queue candidates_;               // new requests, and the first of each released channel's queue
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_LINKS_CHANNELS_H_
