#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "tutti/base/file/fields.h"
#include "tutti/base/fingerprint.h"
#include "tutti/graph/names.h"
#include "tutti/plan/weights_file.h"
#include "tutti/trace/file.h"
#include "tutti/trace/file/digest.h"
#include "tutti/trace/file/display.h"

namespace tutti {
namespace {

constexpr const char* kFormat = "tutti-trace";

// Events arrive one by one, before the header is known for certain. What is wrong with one of them
// is therefore kept until the header has been read: that the trace is of another graph says more.
class TraceReader {
 public:
  TraceReader(std::string file, const Problem& problem)
      : file_(std::move(file)), problem_(problem), names_(problem.graph), display_(file_, problem) {
    const Machine& machine = problem.machine;
    for (const DeviceId id : machine.devices()) devices_.emplace(machine.device(id).name, id);
    for (int32_t i = 0; i < machine.memory_count(); ++i) {
      memories_.emplace(machine.memory(MemoryId{i}).name, MemoryId{i});
    }
  }

  // Takes an event; those that are not of tutti are only counted.
  void take(const Document& item) {
    if (wrong_event_) return;
    Fields event(item, file_, "an event of the trace");
    const std::string category = event.text("cat", "");
    const Document* arguments = event.entry("args");
    const bool ours =
        category == "op" || category == "transfer" || category == "placed" || category == "pause";
    if (ours && arguments == nullptr) event.fail("an event of the trace needs the key \"args\"");
    if (event.good() && !ours) return display_.other(item, category);
    if (auto done = event.done_with_foreign_keys(); !done) {
      wrong_event_ = done.error();
      return;
    }
    Fields fields(*arguments, file_, "\"args\" of " + category);
    if (category == "op") read_op(fields);
    if (category == "transfer") read_transfer(fields);
    if (category == "placed") read_placed(fields);
    if (category == "pause") read_pause(fields);
    if (auto done = fields.done(); !done) {
      wrong_event_ = done.error();
      return;
    }
    if (category == "op") display_.op(item, trace_.ops.back());
    if (category == "transfer") display_.transfer(item, trace_.transfers.back());
    if (category == "placed") display_.placed(item, trace_.placed.back());
    if (category == "pause") display_.pause(item, trace_.pauses.back());
  }

  Result<Trace> finish(const Document& root, std::vector<NotApplied>* not_applied) {
    Fields fields(root, file_, "the trace");
    if (fields.entry("traceEvents") == nullptr) {
      fields.fail("the trace needs the key \"traceEvents\"");
    }
    fields.items("traceEvents");
    const Document* header = fields.entry("tutti");
    if (header == nullptr) fields.fail("the trace needs the key \"tutti\": no tutti wrote this");
    if (auto done = fields.done_with_foreign_keys(); !done) return done.error();
    if (auto done = read_header(*header); !done) return done.error();
    if (wrong_event_) return *wrong_event_;
    // The lanes of another machine have other names; check_trace says that it is another.
    if (trace_.machine_fingerprint == problem_.machine.fingerprint()) {
      if (auto told = display_.contradiction(trace_)) return *told;
    }
    if (version_ > 1 && display_.incomplete()) return *display_.incomplete();
    if (not_applied != nullptr) tell(*not_applied);
    return std::move(trace_);
  }

 private:
  static Duration read_time(Fields& fields, std::string_view key) {
    return Duration(fields.integer(key, {.most = kNever.count()}));
  }

  // What this file leaves open.
  void tell(std::vector<NotApplied>& not_applied) const {
    if (version_ == 1) {
      not_applied.push_back(
          {"digest", "files of schema_version 1 have none: the file may have been changed"});
    }
    if (display_.incomplete()) {
      not_applied.push_back({"display", "some events have no names, times or lanes for viewers"});
    }
    if (display_.foreign() > 0) {
      not_applied.push_back(
          {"display", fmt::format("{} events are not tutti's, and nothing is known of them",
                                  display_.foreign())});
    }
    if (const int64_t unnamed = display_.unnamed_lanes(); unnamed > 0) {
      not_applied.push_back(
          {"display", fmt::format("the file does not name {} of the lanes that it uses: viewers "
                                  "show numbers for them",
                                  unnamed)});
    }
    tell_name("graph", graph_name_, problem_.graph.name(), not_applied);
    if (trace_.machine_fingerprint == problem_.machine.fingerprint()) {
      tell_name("machine", machine_name_, problem_.machine.name(), not_applied);
    }
  }

  // Fingerprints do not hold names: one thing can have two.
  void tell_name(const char* what, const std::string& said, const std::string& name,
                 std::vector<NotApplied>& not_applied) const {
    if (said == name || (said.empty() && version_ < 3)) return;
    not_applied.push_back(
        {"display", fmt::format("the file calls the {} '{}', and it is called '{}' here: which is "
                                "right cannot be told by fingerprints",
                                what, said, name)});
  }

  Result<void> read_header(const Document& header) {
    Fields fields(header, file_, "\"tutti\" of the trace");
    if (fields.text("format") != kFormat) {
      fields.fail(fmt::format("\"format\" must be \"{}\": this is not a trace", kFormat));
    }
    fields.schema_version(1, kTraceVersion);
    version_ = fields.integer("schema_version", {});
    graph_name_ = fields.text("graph", "");
    machine_name_ = fields.text("machine", "");
    read_runtime(fields);
    trace_.graph_fingerprint = fields.fingerprint("graph_fingerprint");
    trace_.machine_fingerprint = fields.fingerprint("machine_fingerprint");
    trace_.seed = fields.seed("seed");
    trace_.sampled = fields.boolean("sampled", false);
    read_order(fields);
    trace_.makespan = read_time(fields, "makespan_ns");
    if (trace_.graph_fingerprint != problem_.graph.fingerprint()) {
      fields.fail(fmt::format("the trace is of another graph ({}, not {})",
                              fingerprint_text(trace_.graph_fingerprint),
                              fingerprint_text(problem_.graph.fingerprint())));
    }
    if (version_ > 3) trace_.weights = read_keeping(fields, file_, problem_);
    if (version_ > 1) read_witnesses(fields);
    if (fields.good() && version_ > 1) check_digest(fields);
    return fields.done();
  }

  // Before version 3 the runtime was one text.
  void read_runtime(Fields& fields) {
    RuntimeInfo& runtime = trace_.runtime;
    if (version_ < 3) {
      runtime = runtime_from_text(fields.text("runtime", ""));
      return;
    }
    runtime.name = fields.text("runtime", "");
    runtime.model = fields.text("model", "");
    runtime.scheduler = fields.text("scheduler", "");
    runtime.barriers = fields.boolean("barriers", false);
    const std::string word = fields.text("movement", kMovementWords[0]);
    const auto found = std::find(kMovementWords.begin(), kMovementWords.end(), word);
    if (found == kMovementWords.end()) {
      return fields.fail(fmt::format("\"movement\" must be one of {}, not \"{}\"",
                                     fmt::join(kMovementWords, ", "), word));
    }
    runtime.movement = static_cast<Movement>(found - kMovementWords.begin());
  }

  // What a file must say since version 2: a real run, which process measured it; a simulated one,
  // which ready op went first.
  void read_witnesses(Fields& fields) {
    if (const Document* measured = fields.entry("measured")) {
      Fields said(*measured, file_, "\"measured\" of the trace");
      Measurement measurement;
      measurement.process = said.integer("process", {.least = 1});
      measurement.began_unix_ms = said.integer("began_unix_ms", {});
      said.done_within(fields);
      trace_.measurement = measurement;
    }
    if (is_measured(trace_) && !trace_.measurement) {
      fields.fail(fmt::format(
          "records: the runtime '{}' is of real devices, but \"measured\", which every real run "
          "writes, is missing: this was not measured",
          to_text(trace_.runtime)));
    }
    if (is_physical(trace_) && !trace_.order) {
      fields.fail("records: a simulated run must say its \"order\"");
    }
  }

  void check_digest(Fields& fields) {
    const uint64_t written = fields.fingerprint("digest");
    const uint64_t found = trace_digest(trace_, {graph_name_, machine_name_}, version_);
    if (!fields.good() || written == found || wrong_event_) return;
    fields.fail(fmt::format(
        "digest: the trace was changed after it was written: its digest is {}, but what "
        "it says has {}; make it again",
        fingerprint_text(written), fingerprint_text(found)));
  }

  void read_order(Fields& fields) {
    const std::string word = fields.text("order", "");
    if (word.empty()) return;
    trace_.order = find_ready_order(word);
    if (trace_.order) return;
    fields.fail(fmt::format("\"order\" must be one of {}, not \"{}\"",
                            fmt::join(kReadyOrderWords, ", "), word));
  }

  OpId read_op_name(Fields& fields) {
    const std::string name = fields.text("op");
    const std::optional<OpId> op = names_.find(name);
    if (!op) fields.fail(fmt::format("the graph has no op '{}'", name));
    return op.value_or(OpId{});
  }

  MemoryId read_memory_name(Fields& fields, std::string_view key) {
    const std::string name = fields.text(key);
    const auto found = memories_.find(name);
    if (found != memories_.end()) return found->second;
    fields.fail(fmt::format("the machine has no memory '{}'", name));
    return {};
  }

  void read_op(Fields& fields) {
    OpSpan span;
    span.op = read_op_name(fields);
    const std::string device = fields.text("device");
    const auto found = devices_.find(device);
    if (found == devices_.end()) {
      fields.fail(fmt::format("the machine has no device '{}'", device));
    } else {
      span.device = found->second;
    }
    span.slot = static_cast<int>(fields.integer("slot", {.most = kMostIndex}));
    span.start = read_time(fields, "start_ns");
    span.finish = read_time(fields, "finish_ns");
    trace_.ops.push_back(span);
  }

  void read_transfer(Fields& fields) {
    TransferSpan span;
    const std::string name = fields.text("value");
    // Values are known by number, because two may bear one name; the name must still be right.
    span.value = ValueId{static_cast<int32_t>(fields.integer("value_id", {.most = kMostIndex}))};
    if (span.value.index >= problem_.graph.value_count()) {
      fields.fail(fmt::format("the graph has no value {}", span.value.index));
    } else if (fields.good() && problem_.graph.value_name(span.value) != name) {
      fields.fail(fmt::format("value {} of the graph is '{}', not '{}'", span.value.index,
                              problem_.graph.value_name(span.value), name));
    }
    span.from = read_memory_name(fields, "from");
    span.to = read_memory_name(fields, "to");
    span.hop = static_cast<int>(fields.integer("hop", {.most = kMostIndex}));
    span.given = fields.boolean("given", false);
    span.start = read_time(fields, "start_ns");
    span.finish = read_time(fields, "finish_ns");
    trace_.transfers.push_back(span);
  }

  void read_placed(Fields& fields) {
    const OpId op = read_op_name(fields);
    trace_.placed.push_back({.op = op, .time = read_time(fields, "time_ns")});
  }

  void read_pause(Fields& fields) {
    const Duration start = read_time(fields, "start_ns");
    trace_.pauses.push_back({.start = start, .finish = read_time(fields, "finish_ns")});
  }

  static constexpr int64_t kMostIndex = std::numeric_limits<int32_t>::max();

  std::string file_;
  const Problem& problem_;
  NameIndex names_;
  std::unordered_map<std::string, DeviceId> devices_;
  std::unordered_map<std::string, MemoryId> memories_;
  Trace trace_{};
  int64_t version_ = 0;
  std::string graph_name_;  // as the header has them
  std::string machine_name_;
  DisplayCheck display_;
  std::optional<Error> wrong_event_;
};

}  // namespace

Result<Trace> read_trace(Source& source, const Problem& problem,
                         std::vector<NotApplied>* not_applied) {
  TraceReader reader(source.name(), problem);
  const Result<Document> root = read_json_streamed(
      source, {"traceEvents"}, [&](std::string_view, Document&& item) -> Result<void> {
        reader.take(item);
        return {};
      });
  if (!root) return root.error();
  return reader.finish(*root, not_applied);
}

}  // namespace tutti
