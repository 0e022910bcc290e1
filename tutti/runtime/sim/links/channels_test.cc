// Channels against a plain list: the oldest request that finds room on all of its channels starts,
// until none does.

#include "tutti/runtime/sim/links/channels.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "test/support/world.h"
#include "tutti/base/random.h"

namespace tutti {
namespace {

class PlainList {
 public:
  explicit PlainList(const Machine& machine)
      : machine_(machine), in_use_(static_cast<size_t>(machine.channel_count()), 0) {}

  void request(int32_t transfer, const Hop& hop) { waiting_.emplace_back(transfer, &hop); }
  void release(const Hop& hop) { change(hop, -1); }

  std::vector<int32_t> dispatch() {
    std::vector<int32_t> started;
    std::erase_if(waiting_, [&](const std::pair<int32_t, const Hop*>& one) {
      if (!has_room(*one.second)) return false;
      change(*one.second, +1);
      started.push_back(one.first);
      return true;
    });
    return started;
  }

  bool within_capacity() const {
    for (int32_t i = 0; i < machine_.channel_count(); ++i) {
      if (in_use_[static_cast<size_t>(i)] > machine_.channel(ChannelId{i}).capacity) return false;
    }
    return true;
  }

 private:
  bool has_room(const Hop& hop) const {
    return std::all_of(hop.channels.begin(), hop.channels.end(), [&](ChannelId channel) {
      const Channel& info = machine_.channel(channel);
      return info.sharing != Sharing::exclusive ||
             in_use_[static_cast<size_t>(channel.index)] < info.capacity;
    });
  }
  void change(const Hop& hop, int by) {
    for (const ChannelId channel : hop.channels) {
      if (machine_.channel(channel).sharing != Sharing::exclusive) continue;
      in_use_[static_cast<size_t>(channel.index)] += by;
    }
  }

  const Machine& machine_;
  std::vector<int> in_use_;  // by channel
  std::vector<std::pair<int32_t, const Hop*>> waiting_;
};

// Four devices around a switch that carries three transfers; the links carry one or two.
Machine star() {
  MachineSpec spec;
  spec.name = "star";
  spec.switches.push_back(
      {.name = "s", .bytes_per_s = 1e9, .sharing = Sharing::exclusive, .capacity = 3});
  for (int i = 0; i < 4; ++i) {
    const std::string name = "d" + std::to_string(i);
    spec.devices.push_back({.device = {.name = name, .kind = "d"}});
    MachineSpec::LinkSpec link;
    link.name = "l" + std::to_string(i);
    link.ends[0] = name;
    link.ends[1] = "s";
    link.capacity = 1 + i % 2;
    link.full_duplex = i != 2;
    spec.links.push_back(link);
  }
  return must(Machine::build(std::move(spec)));
}

TEST(Channels, StartTheOldestThatHaveRoomAndNoOthers) {
  const Machine machine = star();
  std::vector<const Hop*> hops;
  for (const DeviceId from : machine.devices()) {
    for (const DeviceId to : machine.devices()) {
      if (from == to) continue;
      hops.push_back(&machine.route(machine.memory_of(from), machine.memory_of(to))->hops.front());
    }
  }
  Channels channels(machine);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed);
    channels.reset();
    PlainList plain(machine);
    std::vector<const Hop*> hop_of;
    std::vector<int32_t> running;
    for (int step = 0; step < 300; ++step) {
      for (uint64_t left = rng.below(4); left > 0; --left) {
        const Hop* hop = hops[rng.below(hops.size())];
        channels.request(static_cast<int32_t>(hop_of.size()), *hop);
        plain.request(static_cast<int32_t>(hop_of.size()), *hop);
        hop_of.push_back(hop);
      }
      for (uint64_t left = rng.below(3); left > 0 && !running.empty(); --left) {
        const auto which = running.begin() + static_cast<std::ptrdiff_t>(rng.below(running.size()));
        channels.release(*hop_of[static_cast<size_t>(*which)]);
        plain.release(*hop_of[static_cast<size_t>(*which)]);
        running.erase(which);
      }
      std::vector<int32_t> started;
      channels.dispatch(started);
      ASSERT_EQ(started, plain.dispatch()) << "seed " << seed << ", step " << step;
      ASSERT_TRUE(plain.within_capacity());
      EXPECT_TRUE(channels.idle());
      running.insert(running.end(), started.begin(), started.end());
    }
  }
}

}  // namespace
}  // namespace tutti
