#include "tutti/report/lanes.h"

#include <algorithm>
#include <tuple>

#include "tutti/plan/intervals.h"
#include "tutti/trace/channels.h"

namespace tutti {
namespace {

// Sorts by start and sees whether any two overlap.
template <class Span>
void finish_lane(const std::vector<Span>& spans, Lane& lane) {
  const auto key = [&](int32_t i) { return std::tuple(spans[i].start, spans[i].finish, i); };
  std::sort(lane.spans.begin(), lane.spans.end(),
            [&](int32_t a, int32_t b) { return key(a) < key(b); });
  for (size_t i = 1; i < lane.spans.size(); ++i) {
    if (spans[lane.spans[i]].start < spans[lane.spans[i - 1]].finish) lane.overlapping = true;
  }
}

void add_device_lanes(const Problem& problem, const Trace& trace, std::vector<Lane>& lanes) {
  std::vector<std::vector<Lane>> by_device(static_cast<size_t>(problem.machine.size()));
  for (const DeviceId id : problem.machine.devices()) {
    const Device& device = problem.machine.device(id);
    for (int slot = 0; slot < device.slots; ++slot) {
      by_device[id.index].push_back({.name = device.name, .row = slot, .device = id});
    }
  }
  for (size_t i = 0; i < trace.ops.size(); ++i) {
    const OpSpan& span = trace.ops[i];
    by_device[span.device.index][span.slot].spans.push_back(static_cast<int32_t>(i));
  }
  for (std::vector<Lane>& some : by_device) {
    if (some.size() > kMostIdleSlots) {
      const auto idle = [](const Lane& lane) { return lane.row > 0 && lane.spans.empty(); };
      some.erase(std::remove_if(some.begin(), some.end(), idle), some.end());
    }
    for (Lane& lane : some) {
      lane.rows = static_cast<int>(some.size());
      finish_lane(trace.ops, lane);
      lanes.push_back(std::move(lane));
    }
  }
}

void add_transfer_lanes(const std::string& name, const Trace& trace,
                        const std::vector<int32_t>& spans, std::vector<Lane>& lanes) {
  if (spans.empty()) return;
  std::vector<Interval> times;
  for (const int32_t i : spans)
    times.push_back({trace.transfers[i].start, trace.transfers[i].finish});
  const std::vector<int> rows = assign_lanes(times);
  const int count = std::min(*std::max_element(rows.begin(), rows.end()) + 1, kMostRows);
  const size_t first = lanes.size();
  for (int row = 0; row < count; ++row) lanes.push_back({.name = name, .row = row, .rows = count});
  for (size_t i = 0; i < spans.size(); ++i) {
    lanes[first + static_cast<size_t>(std::min(rows[i], count - 1))].spans.push_back(spans[i]);
  }
  for (size_t i = first; i < lanes.size(); ++i) finish_lane(trace.transfers, lanes[i]);
}

}  // namespace

std::vector<Lane> lay_out_lanes(const Problem& problem, const Trace& trace) {
  std::vector<Lane> lanes;
  add_device_lanes(problem, trace, lanes);
  const Machine& machine = problem.machine;
  std::vector<std::vector<int32_t>> by_channel(static_cast<size_t>(machine.channel_count()));
  std::vector<int32_t> without;
  for (size_t i = 0; i < trace.transfers.size(); ++i) {
    const Hop* hop = hop_of(machine, trace.transfers[i]);
    if (hop == nullptr || hop->channels.empty()) {
      without.push_back(static_cast<int32_t>(i));
      continue;
    }
    for (const ChannelId id : hop->channels) {
      by_channel[id.index].push_back(static_cast<int32_t>(i));
    }
  }
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    add_transfer_lanes(machine.channel(ChannelId{i}).name, trace, by_channel[i], lanes);
  }
  add_transfer_lanes("transfers", trace, without, lanes);
  return lanes;
}

}  // namespace tutti
