#include "tutti/runtime/sim/links/channels.h"

#include <algorithm>
#include <functional>

namespace tutti {

Channels::Channels(const Machine& machine)
    : machine_(&machine),
      in_use_(static_cast<size_t>(machine.channel_count()), 0),
      waiting_(static_cast<size_t>(machine.channel_count())) {}

void Channels::reset() {
  std::fill(in_use_.begin(), in_use_.end(), 0);
  for (Queue& queue : waiting_) queue.clear();
  released_.clear();
  candidates_.clear();
  turn_ = 0;
}

void Channels::push(Queue& queue, const Request& request) {
  queue.push_back(request);
  std::push_heap(queue.begin(), queue.end(), std::greater<>());
}

Channels::Request Channels::pop(Queue& queue) {
  std::pop_heap(queue.begin(), queue.end(), std::greater<>());
  const Request request = queue.back();
  queue.pop_back();
  return request;
}

void Channels::request(int32_t transfer, const Hop& hop) {
  push(candidates_, {.turn = turn_++, .transfer = transfer, .hop = &hop, .waited_on = -1});
}

void Channels::release(const Hop& hop) {
  for (const ChannelId channel : hop.channels) {
    if (machine_->channel(channel).sharing != Sharing::exclusive) continue;
    --in_use_[channel.index];
    if (!waiting_[channel.index].empty()) released_.push_back(channel.index);
  }
}

int32_t Channels::full_channel(const Hop& hop) const {
  for (const ChannelId channel : hop.channels) {
    const Channel& info = machine_->channel(channel);
    if (info.sharing == Sharing::exclusive && in_use_[channel.index] >= info.capacity) {
      return channel.index;
    }
  }
  return -1;
}

void Channels::offer_next_of(int32_t channel) {
  if (waiting_[channel].empty()) return;
  Request request = pop(waiting_[channel]);
  request.waited_on = channel;
  push(candidates_, request);
}

void Channels::dispatch(std::vector<int32_t>& started) {
  // A channel given back twice offers two; each start or step aside below offers one more.
  for (const int32_t channel : released_) offer_next_of(channel);
  released_.clear();
  while (!candidates_.empty()) {
    const Request request = pop(candidates_);
    const int32_t full = full_channel(*request.hop);
    if (full >= 0) {
      push(waiting_[full], request);
      // It stepped aside for another channel, so the one it waited for can serve the next.
      if (request.waited_on >= 0 && full != request.waited_on) offer_next_of(request.waited_on);
      continue;
    }
    for (const ChannelId channel : request.hop->channels) {
      if (machine_->channel(channel).sharing == Sharing::exclusive) ++in_use_[channel.index];
    }
    started.push_back(request.transfer);
    if (request.waited_on >= 0 &&
        in_use_[request.waited_on] < machine_->channel(ChannelId{request.waited_on}).capacity) {
      offer_next_of(request.waited_on);
    }
  }
}

}  // namespace tutti
