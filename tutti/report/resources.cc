#include "tutti/report/resources.h"

#include <algorithm>

#include "tutti/report/columns.h"
#include "tutti/trace/memory.h"
#include "tutti/trace/presence.h"

namespace tutti {
namespace {

void write_memory_use(const MemoryUse& use, JsonWriter& json) {
  Column time;
  Column bytes;
  const size_t together = (use.time.size() + kMostMemoryPoints - 1) / kMostMemoryPoints;
  Duration last_time{0};
  int64_t last_bytes = 0;
  int64_t count = 0;
  for (size_t begin = 0; begin < use.time.size(); begin += together) {
    const size_t end = std::min(use.time.size(), begin + together);
    const int64_t most = *std::max_element(use.bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                                           use.bytes.begin() + static_cast<std::ptrdiff_t>(end));
    time.add_signed((use.time[begin] - last_time).count());
    bytes.add_signed(most - last_bytes);
    last_time = use.time[begin];
    last_bytes = most;
    ++count;
  }
  json.open_object().field("count", count).field("time", time.base64());
  json.field("bytes", bytes.base64()).close_object();
}

// Where each op ran; empty if some op did not.
std::vector<DeviceId> placement_of(const Problem& problem, const Trace& trace) {
  std::vector<DeviceId> placement(static_cast<size_t>(problem.graph.size()));
  for (const OpSpan& span : trace.ops) placement[span.op.index] = span.device;
  const bool complete = std::all_of(placement.begin(), placement.end(),
                                    [](const DeviceId device) { return device.valid(); });
  return complete ? placement : std::vector<DeviceId>();
}

// How often weights came to a memory that does not keep them, and how many bytes that was.
struct Streams {
  int64_t count = 0;
  int64_t bytes = 0;
};

std::vector<Streams> streams_of(const Problem& problem, const Trace& trace) {
  std::vector<Streams> streams(static_cast<size_t>(problem.machine.memory_count()));
  const auto weights = problem.homed_weights();
  for (const TransferSpan& span : trace.transfers) {
    if (span.hop != 0 || !std::binary_search(weights.begin(), weights.end(), span.value)) continue;
    if (trace.weights.keeps(span.value, span.to)) continue;
    ++streams[span.to.index].count;
    streams[span.to.index].bytes += problem.graph.bytes(span.value);
  }
  return streams;
}

void write_weights(const Problem& problem, const Trace& trace, JsonWriter& json) {
  json.key("weights");
  const std::vector<DeviceId> placement = placement_of(problem, trace);
  if (!trace.weights.stated() || placement.empty()) {
    json.null();
    return;
  }
  const std::vector<WeightUse> uses = weight_use(problem, trace.weights, placement);
  const std::vector<Streams> streams = streams_of(problem, trace);
  json.open_list();
  for (size_t i = 0; i < uses.size(); ++i) {
    const WeightUse& use = uses[i];
    json.open_object().field("kept", use.kept).field("kept_bytes", use.kept_bytes);
    json.field("streamed", use.streamed).field("streamed_bytes", use.streamed_bytes);
    json.field("in_place", use.in_place).field("in_place_bytes", use.in_place_bytes);
    json.field("buffer_bytes", use.buffer_bytes).field("streams", streams[i].count);
    json.field("moved_bytes", streams[i].bytes).close_object();
  }
  json.close_list();
}

// By op, what the costs say it takes where it ran; nothing if every op took just that. 0: the costs
// have no time for it there.
std::string expected_times(const Problem& problem, const Trace& trace) {
  std::vector<Duration> expected(static_cast<size_t>(problem.graph.size()), Duration(0));
  bool differs = false;
  for (const OpSpan& span : trace.ops) {
    const Duration time = problem.costs.run_time(span.op, span.device);
    if (time >= kNever) continue;
    expected[span.op.index] = time;
    differs |= span.finish - span.start != time;
  }
  if (!differs) return {};
  Column column;
  for (const Duration time : expected) column.add(static_cast<uint64_t>(time.count()));
  return column.base64();
}

}  // namespace

void write_limits(const Problem& problem, JsonWriter& json) {
  const Machine& machine = problem.machine;
  json.key("memory_limits").open_list();
  for (int32_t i = 0; i < machine.memory_count(); ++i) {
    const int64_t limit = problem.memory_limit(MemoryId{i});
    limit == kUnlimitedBytes ? json.null() : json.value(limit);
  }
  json.close_list().key("channels").open_list();
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    const Channel& channel = machine.channel(ChannelId{i});
    // Several at once, each at full bandwidth, have no limit together.
    const bool bounded = channel.bytes_per_s > 0 && channel.sharing != Sharing::unlimited;
    const int together = channel.sharing == Sharing::exclusive ? channel.capacity : 1;
    json.open_object().field("name", channel.name).key("bytes_per_s");
    bounded ? json.value(channel.bytes_per_s * together) : json.null();
    json.close_object();
  }
  json.close_list();
}

void write_resources(const Problem& problem, const Trace& trace, bool is_plan, JsonWriter& json) {
  json.key("memory").open_list();
  if (!is_plan && !is_released(trace) && !is_of_files(trace)) {
    const Presence presence(problem, trace, {});
    for (const MemoryUse& use : memory_use(problem, trace, presence)) write_memory_use(use, json);
  }
  json.close_list();
  json.field("expected", is_plan ? std::string() : expected_times(problem, trace));
  write_weights(problem, trace, json);
}

void write_alternatives(const std::optional<ReportedAlternatives>& alternatives, JsonWriter& json) {
  json.key("alternatives");
  if (!alternatives) {
    json.null();
    return;
  }
  json.open_object().field("plan", alternatives->plan).field("obstacle", alternatives->obstacle);
  json.key("ops").open_list();
  for (const ExplainedOp& one : alternatives->ops) {
    json.open_object().field("op", one.op.index).field("because", one.because);
    json.key("devices").open_list();
    for (const ReportedAlternative& other : one.alternatives) {
      json.open_object().field("device", other.device.index).field("chosen", other.chosen);
      if (other.makespan) {
        json.field("run_time_ns", other.run_time).field("makespan_ns", *other.makespan);
      } else {
        json.field("obstacle", other.obstacle);
      }
      json.close_object();
    }
    json.close_list().close_object();
  }
  json.close_list().close_object();
}

}  // namespace tutti
