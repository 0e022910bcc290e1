#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/plan/intervals.h"
#include "tutti/plan/weights_file.h"
#include "tutti/trace/channels.h"
#include "tutti/trace/file.h"
#include "tutti/trace/file/digest.h"
#include "tutti/trace/file/lanes.h"
#include "tutti/trace/memory.h"
#include "tutti/trace/presence.h"

namespace tutti {
namespace {

// Viewers want microseconds; three decimals keep every nanosecond.
std::string microseconds(Duration time) {
  const int64_t ns = time.count();
  const int64_t size = ns < 0 ? -ns : ns;
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

class TraceWriter {
 public:
  using Sink = std::function<void(std::string_view text)>;

  // `more`: also events that say nothing new, for viewers alone.
  TraceWriter(const Problem& problem, const Trace& trace, Sink sink, bool more = false)
      : problem_(problem),
        trace_(trace),
        sink_(std::move(sink)),
        more_(more),
        shown_as_{problem.machine} {}

  void write() {
    assign_transfers();
    json_.open_object();
    write_header();
    json_.field("displayTimeUnit", "ns");
    json_.key("traceEvents").open_list();
    name_lanes();
    for (const OpSpan& span : trace_.ops) write_op(span);
    for (const TransferSpan& span : trace_.transfers) write_transfer(span);
    for (const PlacedAt& placed : trace_.placed) write_placed(placed);
    for (const Pause& pause : trace_.pauses) write_pause(pause);
    if (more_) {
      write_arrows();
      write_memories();
      write_bandwidths();
    }
    json_.close_list().close_object();
    sink_(json_.take());
  }

 private:
  // Where a transfer is shown; the first is the one that is read back. Beyond what a viewer can
  // open there is no use in showing it more than once.
  std::vector<size_t> channels_of(const TransferSpan& span) const {
    const Hop* hop = hop_of(problem_.machine, span);
    if (hop == nullptr || hop->channels.empty()) return {shown_as_.no_channel()};
    // Which way it went instead of by its hops is not known.
    if (is_direct(trace_) && hop->to != span.to) return {shown_as_.no_channel()};
    std::vector<size_t> channels;
    for (const ChannelId id : hop->channels) {
      channels.push_back(static_cast<size_t>(id.index));
      if (trace_.transfers.size() > kMostShownTwice) break;
    }
    return channels;
  }

  // Viewers cannot show spans of one lane that overlap, so each channel gets as many as it needs.
  void assign_transfers() {
    std::vector<std::vector<Interval>> spans(shown_as_.no_channel() + 1);
    for (const TransferSpan& span : trace_.transfers) {
      for (const size_t channel : channels_of(span)) {
        spans[channel].push_back({span.start, span.finish});
      }
    }
    for (const std::vector<Interval>& some : spans) lanes_.push_back(assign_lanes(some));
    shown_.assign(spans.size(), 0);
  }

  void write_header() {
    json_.key("tutti").open_object();
    json_.field("format", "tutti-trace").field("schema_version", trace_version_of(trace_));
    write_runtime();
    json_.field("graph", problem_.graph.name()).field("machine", problem_.machine.name());
    json_.field("graph_fingerprint", fingerprint_text(trace_.graph_fingerprint));
    json_.field("machine_fingerprint", fingerprint_text(trace_.machine_fingerprint));
    json_.field("seed", std::to_string(trace_.seed)).field("sampled", trace_.sampled);
    if (trace_.order) json_.field("order", to_text(*trace_.order));
    json_.field("makespan_ns", trace_.makespan);
    if (trace_.measurement) {
      json_.key("measured").open_object().field("process", trace_.measurement->process);
      json_.field("began_unix_ms", trace_.measurement->began_unix_ms).close_object();
    }
    if (trace_.weights.stated()) write_keeping(trace_.weights, problem_, json_);
    const TraceNames names{problem_.graph.name(), problem_.machine.name()};
    json_.field("digest", fingerprint_text(trace_digest(trace_, names, trace_version_of(trace_))));
    json_.close_object();
  }

  void write_runtime() {
    const RuntimeInfo& runtime = trace_.runtime;
    json_.field("runtime", runtime.name);
    if (!runtime.model.empty()) json_.field("model", runtime.model);
    if (!runtime.scheduler.empty()) json_.field("scheduler", runtime.scheduler);
    json_.field("movement", kMovementWords[static_cast<size_t>(runtime.movement)]);
    json_.field("barriers", runtime.barriers);
  }

  void write_name(const char* what, int32_t process, int32_t thread, std::string_view name) {
    json_.open_object().field("ph", "M").field("name", what);
    json_.field("pid", process).field("tid", thread);
    json_.key("args").open_object().field("name", name).close_object().close_object();
  }

  void write_process_name(int32_t process) {
    write_name("process_name", process, 0, shown_as_.process_name(process));
  }

  void name_lanes() {
    for (const DeviceId id : problem_.machine.devices()) {
      const Device& device = problem_.machine.device(id);
      write_process_name(shown_as_.device(id));
      for (int slot = 0; slot < device.slots; ++slot) {
        write_name("thread_name", shown_as_.device(id), slot, ShownAs::slot_name(slot));
      }
    }
    for (size_t channel = 0; channel < lanes_.size(); ++channel) {
      if (!lanes_[channel].empty()) write_process_name(shown_as_.channel(channel));
    }
    if (!trace_.placed.empty() || !trace_.pauses.empty()) write_process_name(shown_as_.policy());
  }

  // Begins an event up to its arguments.
  void open_event(std::string_view name, const char* category, int32_t process, int32_t thread,
                  Duration start) {
    if (++pending_events_ == kEventsPerWrite) {
      sink_(json_.take());
      pending_events_ = 0;
    }
    json_.open_object().field("name", name).field("cat", category);
    json_.field("pid", process).field("tid", thread);
    json_.key("ts").raw(microseconds(start));
  }
  void open_span(std::string_view name, const char* category, int32_t process, int32_t thread,
                 Interval time) {
    open_event(name, category, process, thread, time.start);
    json_.field("ph", "X").key("dur").raw(microseconds(time.finish - time.start));
    json_.key("args").open_object();
  }
  void close_span(Interval time) {
    json_.field("start_ns", time.start).field("finish_ns", time.finish);
    json_.close_object().close_object();
  }

  void write_op(const OpSpan& span) {
    const Interval time{span.start, span.finish};
    const std::string_view name = problem_.graph.op_name(span.op);
    open_span(name, "op", shown_as_.device(span.device), span.slot, time);
    json_.field("op", name).field("device", problem_.machine.device(span.device).name);
    json_.field("slot", span.slot);
    close_span(time);
  }

  void write_transfer(const TransferSpan& span) {
    const Interval time{span.start, span.finish};
    const std::string name = problem_.graph.value_name(span.value);
    const std::vector<size_t> channels = channels_of(span);
    for (size_t i = 0; i < channels.size(); ++i) {
      const int lane = lanes_[channels[i]][shown_[channels[i]]++];
      if (more_ && i == 0) places_.push_back({shown_as_.channel(channels[i]), lane, time});
      open_span(name, i == 0 ? "transfer" : "channel", shown_as_.channel(channels[i]), lane, time);
      if (i == 0) {
        json_.field("value", name).field("value_id", span.value.index);
        json_.field("from", problem_.machine.memory(span.from).name);
        json_.field("to", problem_.machine.memory(span.to).name);
        json_.field("hop", span.hop).field("given", span.given);
      }
      close_span(time);
    }
  }

  void write_placed(const PlacedAt& placed) {
    const std::string_view name = problem_.graph.op_name(placed.op);
    open_event(name, "placed", shown_as_.policy(), 0, placed.time);
    json_.field("ph", "i").field("s", "t").key("args").open_object();
    json_.field("op", name).field("time_ns", placed.time).close_object().close_object();
  }

  void write_pause(const Pause& pause) {
    open_span("pause", "pause", shown_as_.policy(), 0, {pause.start, pause.finish});
    close_span({pause.start, pause.finish});
  }

  // A span as viewers show it.
  struct Place {
    int32_t process = 0;
    int32_t thread = 0;
    Interval time{};
  };

  Place place_of(const OpSpan& span) const {
    return {shown_as_.device(span.device), span.slot, {span.start, span.finish}};
  }

  // Viewers bind an end of an arrow to the span that it is in, and a span does not hold its finish.
  void write_arrow(const Place& from, const Place& to) {
    const Duration out = std::max(from.time.start, from.time.finish - Duration(1));
    const std::string id = std::to_string(++arrows_);
    open_event("data", "flow", from.process, from.thread, out);
    json_.field("ph", "s").field("id", id).close_object();
    open_event("data", "flow", to.process, to.thread, to.time.start);
    json_.field("ph", "f").field("bp", "e").field("id", id).close_object();
  }

  // From each op over the transfers of its values to the ops that read them.
  void write_arrows() {
    const Presence presence(problem_, trace_, {.released = is_released(trace_)});
    for (const ValueId value : problem_.graph.values()) write_arrows_of(value, presence);
  }

  void write_arrows_of(ValueId value, const Presence& presence) {
    const OpId producer = problem_.graph.producer(value);
    const OpSpan* const made = producer.valid() ? presence.span(producer) : nullptr;
    for (const Transfer& transfer : presence.transfers(value)) {
      if (made != nullptr) write_arrow(place_of(*made), places_[transfer.spans.front()]);
      for (size_t i = 1; i < transfer.spans.size(); ++i) {
        write_arrow(places_[transfer.spans[i - 1]], places_[transfer.spans[i]]);
      }
    }
    for (const EdgeId edge : problem_.graph.consumers(value)) {
      const OpSpan* const read = presence.span(problem_.graph.edge_to(edge));
      if (read == nullptr) continue;
      if (const Transfer* copy = copy_for(*read, presence.transfers(value))) {
        write_arrow(places_[copy->spans.back()], place_of(*read));
      } else if (made != nullptr) {
        write_arrow(place_of(*made), place_of(*read));
      }
    }
  }

  // The last copy that was in the op's memory when it started; null if none was sent there.
  const Transfer* copy_for(const OpSpan& read, std::span<const Transfer> transfers) const {
    const Transfer* found = nullptr;
    for (const Transfer& transfer : transfers) {
      if (transfer.to != problem_.machine.memory_of(read.device) || transfer.finish > read.start) {
        continue;
      }
      if (found == nullptr || transfer.finish > found->finish) found = &transfer;
    }
    return found;
  }

  void write_counter(std::string_view name, int32_t process, Duration time, const char* unit,
                     double value) {
    open_event(name, "counter", process, 0, time);
    json_.field("ph", "C").key("args").open_object();
    json_.key(unit).raw(fmt::format("{:.0f}", value)).close_object().close_object();
  }

  void write_memories() {
    if (is_released(trace_) || is_of_files(trace_)) return;
    const int32_t process = shown_as_.memories();
    write_process_name(process);
    const Presence presence(problem_, trace_, {});
    const std::vector<MemoryUse> uses = memory_use(problem_, trace_, presence);
    for (size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].peak() == 0) continue;
      const std::string& name = problem_.machine.memory(MemoryId{static_cast<int32_t>(i)}).name;
      for (size_t k = 0; k < uses[i].time.size(); ++k) {
        write_counter(name, process, uses[i].time[k], "bytes",
                      static_cast<double>(uses[i].bytes[k]));
      }
    }
  }

  // A hop is taken to move its bytes evenly.
  void write_bandwidths() {
    const int32_t process = shown_as_.bandwidth();
    write_process_name(process);
    const std::vector<ChannelUse> uses = channel_use(problem_, trace_);
    for (size_t channel = 0; channel < uses.size(); ++channel) {
      std::vector<std::pair<Duration, double>> changes;
      for (size_t i = 0; i < uses[channel].spans.size(); ++i) {
        const Interval time = uses[channel].spans[i];
        if (time.finish <= time.start) continue;
        const auto ns = static_cast<double>((time.finish - time.start).count());
        const double rate = static_cast<double>(uses[channel].bytes[i]) * 1e9 / ns;
        changes.emplace_back(time.start, rate);
        changes.emplace_back(time.finish, -rate);
      }
      std::sort(changes.begin(), changes.end());
      const std::string& name =
          problem_.machine.channel(ChannelId{static_cast<int32_t>(channel)}).name;
      double rate = 0;
      for (size_t i = 0; i < changes.size(); ++i) {
        rate += changes[i].second;
        const bool last = i + 1 == changes.size();
        if (!last && changes[i + 1].first == changes[i].first) continue;
        write_counter(name, process, changes[i].first, "bytes_per_s",
                      last ? 0 : std::max(0.0, rate));
      }
    }
  }

  static constexpr int kEventsPerWrite = 4096;
  static constexpr size_t kMostShownTwice = 100000;

  const Problem& problem_;
  const Trace& trace_;
  Sink sink_;
  bool more_ = false;
  int64_t arrows_ = 0;
  std::vector<Place> places_;  // of each transfer span; only if there are more events
  ShownAs shown_as_;
  JsonWriter json_;
  int pending_events_ = 0;
  std::vector<std::vector<int>> lanes_;  // by channel and one more: of each span shown there
  std::vector<size_t> shown_;            // by channel and one more: spans written so far
};

}  // namespace

int64_t trace_version_of(const Trace& trace) {
  return trace.weights.stated() ? kTraceVersion : 3;
}

void write_trace(const Problem& problem, const Trace& trace, Output& output) {
  TraceWriter(problem, trace, [&output](std::string_view text) { output.write(text); }).write();
}

void write_viewer_trace(const Problem& problem, const Trace& trace, Output& output) {
  TraceWriter(
      problem, trace, [&output](std::string_view text) { output.write(text); }, /*more=*/true)
      .write();
}

std::string viewer_trace_to_text(const Problem& problem, const Trace& trace) {
  std::string all;
  TraceWriter(
      problem, trace, [&all](std::string_view text) { all += text; }, /*more=*/true)
      .write();
  return all;
}

std::string trace_to_text(const Problem& problem, const Trace& trace) {
  std::string all;
  TraceWriter(problem, trace, [&all](std::string_view text) { all += text; }).write();
  return all;
}

}  // namespace tutti
