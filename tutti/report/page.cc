#include "tutti/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/base/file/json_writer.h"
#include "tutti/graph/groups.h"
#include "tutti/report/columns.h"
#include "tutti/report/lanes.h"
#include "tutti/report/template.h"
#include "tutti/trace/critical_path.h"
#include "tutti/trace/stats.h"

namespace tutti {
namespace {

// Beyond this many groups their colours say nothing.
constexpr size_t kMostGroups = 4096;

void write_producers(const Graph& graph, JsonWriter& json) {
  Column column;
  std::vector<int32_t> producers;
  for (const OpId op : graph.ops()) {
    producers.clear();
    for (const EdgeId edge : graph.edges(op)) {
      if (graph.edge_from(edge).valid()) producers.push_back(graph.edge_from(edge).index);
    }
    std::sort(producers.begin(), producers.end());
    producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
    column.add(producers.size());
    for (const int32_t producer : producers) column.add_signed(int64_t{op.index} - producer);
  }
  json.field("producers", column.base64());
}

void write_groups(const Graph& graph, JsonWriter& json) {
  const Groups groups = groups_of(graph);
  std::vector<uint64_t> number(groups.names.size(), 0);  // from 1; 0: a group without a name
  uint64_t count = 0;
  json.key("groups").open_list();
  for (size_t i = 0; groups.named && i < groups.names.size() && count < kMostGroups; ++i) {
    if (groups.names[i].empty()) continue;
    number[i] = ++count;
    json.value(groups.names[i]);
  }
  json.close_list();
  Column column;
  for (const OpId op : graph.ops()) column.add(number[groups.of_op[op.index]]);
  json.field("group_of", column.base64_unless_zero());
}

// Figures that are too large for a whole number are shown as the largest.
uint64_t whole(double number) {
  return static_cast<uint64_t>(std::llround(std::clamp(number, 0.0, 9e18)));
}

void write_graph(const Graph& graph, JsonWriter& json) {
  Column names;
  Column kinds;
  Column bytes;
  Column flops;
  for (const OpId op : graph.ops()) {
    names.add_name(graph.op_name(op));
    kinds.add(static_cast<uint64_t>(graph.op_kind(op).index));
    int64_t made = 0;
    for (const ValueId value : graph.outputs(op)) made += graph.bytes(value);
    bytes.add(static_cast<uint64_t>(made));
    flops.add(whole(graph.flops(op)));
  }
  json.key("graph").open_object().field("ops", graph.size()).field("names", names.base64());
  json.key("kinds").open_list();
  for (const std::string& kind : graph.op_kinds()) json.value(kind);
  json.close_list().field("kind_of", kinds.base64_unless_zero());
  write_groups(graph, json);
  write_producers(graph, json);
  json.field("bytes", bytes.base64_unless_zero()).field("flops", flops.base64_unless_zero());
  json.close_object();
}

void write_machine(const Machine& machine, JsonWriter& json) {
  json.key("devices").open_list();
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    json.open_object().field("name", device.name).field("kind", device.kind);
    json.field("slots", device.slots).close_object();
  }
  json.close_list().key("memories").open_list();
  for (int32_t i = 0; i < machine.memory_count(); ++i) json.value(machine.memory(MemoryId{i}).name);
  json.close_list();
}

// Lanes with their spans, first those of ops, then those of transfers. An op's span begins where
// the one before it on the lane ended, or soon after, so gaps are small numbers.
void write_lanes(const Trace& trace, const std::vector<Lane>& lanes, JsonWriter& json,
                 Column& shown) {
  Column ops;
  Column gaps;
  Column lengths;
  int64_t last_op = 0;
  int64_t last_transfer = 0;
  json.key("lanes").open_list();
  for (const Lane& lane : lanes) {
    json.open_object().field("name", lane.name).field("row", lane.row).field("of", lane.rows);
    json.field("device", lane.device.valid() ? lane.device.index : -1);
    json.field("overlapping", lane.overlapping);
    json.field("count", static_cast<int64_t>(lane.spans.size())).close_object();
    Duration last_finish{0};
    for (const int32_t i : lane.spans) {
      if (!lane.device.valid()) {
        shown.add_signed(i - last_transfer);
        last_transfer = i;
        continue;
      }
      const OpSpan& span = trace.ops[i];
      ops.add_signed(span.op.index - last_op);
      gaps.add_signed((span.start - last_finish).count());
      lengths.add(static_cast<uint64_t>((span.finish - span.start).count()));
      last_op = span.op.index;
      last_finish = span.finish;
    }
  }
  json.close_list();
  json.key("ops").open_object().field("count", static_cast<int64_t>(trace.ops.size()));
  json.field("op", ops.base64()).field("gap", gaps.base64()).field("length", lengths.base64());
  json.close_object();
}

// The values that travelled, numbered in the order of first appearance.
class Travelled {
 public:
  explicit Travelled(const Graph& graph)
      : graph_(graph), number_(static_cast<size_t>(graph.value_count()), -1) {}

  uint64_t number(ValueId value) {
    int64_t& known = number_[value.index];
    if (known < 0) {
      known = count_++;
      add(value);
    }
    return static_cast<uint64_t>(known);
  }

  void write(JsonWriter& json) const {
    json.key("values").open_object().field("count", count_);
    json.field("producer", producers_.base64_unless_zero());
    json.field("bytes", bytes_.base64_unless_zero()).field("names", names_.base64());
    json.close_object();
  }

 private:
  void add(ValueId value) {
    const OpId producer = graph_.producer(value);
    const std::string name = graph_.value_name(value);
    const bool as_op = producer.valid() && name == graph_.op_name(producer);
    producers_.add(producer.valid() ? static_cast<uint64_t>(producer.index) + 1 : 0);
    bytes_.add(static_cast<uint64_t>(graph_.bytes(value)));
    names_.add_name(as_op ? "" : name);
  }

  const Graph& graph_;
  std::vector<int64_t> number_;  // by value; -1: it did not travel yet
  int64_t count_ = 0;
  Column producers_;
  Column bytes_;
  Column names_;
};

void write_transfers(const Graph& graph, const Trace& trace, const Column& shown,
                     JsonWriter& json) {
  Travelled values(graph);
  Column value;
  Column from;
  Column to;
  Column hop;
  Column start;
  Column length;
  Duration last{0};
  for (const TransferSpan& span : trace.transfers) {
    value.add(values.number(span.value));
    from.add(static_cast<uint64_t>(span.from.index));
    to.add(static_cast<uint64_t>(span.to.index));
    hop.add(static_cast<uint64_t>(span.hop));
    start.add_signed((span.start - last).count());
    length.add(static_cast<uint64_t>((span.finish - span.start).count()));
    last = span.start;
  }
  json.key("transfers").open_object();
  json.field("count", static_cast<int64_t>(trace.transfers.size()));
  values.write(json);
  json.field("value", value.base64_unless_zero()).field("from", from.base64_unless_zero());
  json.field("to", to.base64_unless_zero()).field("hop", hop.base64_unless_zero());
  json.field("start", start.base64()).field("length", length.base64());
  json.field("shown", shown.base64()).close_object();
}

void write_critical_path(const Trace& trace, const RunCriticalPath& path, JsonWriter& json) {
  Column subjects;  // twice the op, or twice the transfer and one
  Column causes;
  for (const PathStep& step : path.steps) {
    const auto span = static_cast<uint64_t>(step.span);
    subjects.add(step.is_op ? 2 * static_cast<uint64_t>(trace.ops[span].op.index) : 2 * span + 1);
    causes.add(static_cast<uint64_t>(step.cause));
  }
  json.key("critical").open_object().field("count", static_cast<int64_t>(path.steps.size()));
  json.field("subject", subjects.base64()).field("why", causes.base64());
  json.field("ops_ns", path.in_ops).field("transfers_ns", path.in_transfers);
  json.field("waits_ns", path.waiting).close_object();
}

void write_stats(const Machine& machine, const TraceStats& stats, JsonWriter& json) {
  json.key("stats").open_object().field("bytes_moved", stats.bytes_moved);
  json.field("transfers", stats.transfer_count).key("devices").open_list();
  for (const DeviceId id : machine.devices()) {
    const DeviceStats& device = stats.devices[id.index];
    json.open_object().field("ops", device.ops).field("busy", device.busy_share);
    json.field("waiting_for_data", device.waiting_for_data);
    json.field("waiting_for_ops", device.waiting_for_ops);
    json.field("waiting_for_memory", device.waiting_for_memory);
    json.field("finished", device.finished);
    // Where values are in no memory, none is used.
    json.field("peak_memory_bytes", stats.peak_memory_bytes.empty()
                                        ? 0
                                        : stats.peak_memory_bytes[machine.memory_of(id).index]);
    json.close_object();
  }
  json.close_list().key("channels").open_list();
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    json.open_object().field("name", machine.channel(ChannelId{i}).name);
    json.field("busy", stats.channel_busy_share[i]).close_object();
  }
  json.close_list().close_object();
}

void write_run(const Problem& problem, const ReportedRun& run, JsonWriter& json) {
  const TraceStats stats = trace_stats(problem, run.trace);
  json.open_object().field("name", run.name).field("what", run.is_plan ? "plan" : "trace");
  json.field("by", run.by).key("makespan_ns");
  // A plan without a timeline plans no makespan.
  run.is_plan&& run.trace.ops.empty() ? json.null() : json.value(stats.makespan);
  Column shown;
  write_lanes(run.trace, lay_out_lanes(problem, run.trace), json, shown);
  write_transfers(problem.graph, run.trace, shown, json);
  write_critical_path(run.trace, critical_path_of_run(problem, run.trace), json);
  write_stats(problem.machine, stats, json);
  write_resources(problem, run.trace, run.is_plan, json);
  json.close_object();
}

void write_problem(const Page& page, JsonWriter& json) {
  if (page.problem == nullptr) {
    json.key("title").null().key("lower_bound_ns").null().key("graph").null();
    return;
  }
  const Problem& problem = *page.problem;
  json.key("title").open_object().field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).close_object();
  json.field("lower_bound_ns", page.bounds.strongest());
  write_machine(problem.machine, json);
  write_limits(problem, json);
  write_alternatives(page.alternatives, json);
  write_graph(problem.graph, json);
}

void write_comparison(const Comparison& comparison, JsonWriter& json) {
  json.open_object().field("name", comparison.name).field("graph", comparison.graph);
  json.field("machine", comparison.machine).field("model", comparison.model);
  json.field("runtime", comparison.runtime).key("lower_bound_ns");
  comparison.lower_bound_ns ? json.value(*comparison.lower_bound_ns) : json.null();
  json.key("results").open_list();
  for (const ComparedPolicy& row : comparison.results) {
    json.open_object().field("policy", row.policy);
    if (row.error) {
      json.field("error", *row.error).close_object();
      continue;
    }
    json.field("mean_ns", row.mean_ns).field("min_ns", row.min_ns);
    json.field("stddev_ns", row.stddev_ns).field("runs", row.runs).key("planned_ns");
    row.planned_ns ? json.value(*row.planned_ns) : json.null();
    json.field("plan_seconds", row.plan_seconds).close_object();
  }
  json.close_list().close_object();
}

// A list with one item for each of `parts`: a number with the digits that a chart can show, or
// null.
template <class Part, class Get>
void write_numbers(std::string_view name, const std::vector<Part>& parts, const Get& get,
                   JsonWriter& json) {
  json.key(name).open_list();
  for (const Part& part : parts) {
    const Figure number = get(part);
    number ? json.raw(fmt::format("{:.6g}", *number)) : json.null();
  }
  json.close_list();
}

template <class Part, class Get>
void write_times(const std::vector<Part>& parts, const Get& time_of, JsonWriter& json) {
  json.key("update").open_list();
  for (const Part& part : parts) json.value(time_of(part).update);
  json.close_list().key("episodes").open_list();
  for (const Part& part : parts) json.value(time_of(part).episodes);
  json.close_list();
  write_numbers(
      "seconds", parts, [&](const Part& part) { return Figure(time_of(part).seconds); }, json);
}

void write_training_log(const TrainingLog& log, JsonWriter& json) {
  const std::pair<const char*, Figure LoggedUpdate::*> figures[] = {
      {"mean_ratio", &LoggedUpdate::mean_ratio},
      {"best_ratio", &LoggedUpdate::best_ratio},
      {"label_ratio", &LoggedUpdate::label_ratio},
      {"match", &LoggedUpdate::match},
      {"loss", &LoggedUpdate::loss},
      {"select_entropy", &LoggedUpdate::select_entropy},
      {"place_entropy", &LoggedUpdate::place_entropy},
      {"gradient_norm", &LoggedUpdate::gradient_norm}};
  json.open_object().field("name", log.name).field("update_count", log.update_count);
  json.field("cut", log.cut).key("updates").open_object();
  write_times(
      log.updates, [](const LoggedUpdate& update) { return update.time; }, json);
  for (const auto& [name, figure] : figures) {
    const auto get = [wanted = figure](const LoggedUpdate& update) { return update.*wanted; };
    write_numbers(name, log.updates, get, json);
  }
  json.close_object().key("greedy").open_object();
  write_times(
      log.greedy, [](const GreedyPoint& point) { return point.time; }, json);
  write_numbers(
      "greedy_ratio", log.greedy, [](const GreedyPoint& point) { return Figure(point.ratio); },
      json);
  json.close_object().key("stages").open_object();
  json.key("stage").open_list();
  for (const StageStart& start : log.stages) json.value(start.stage);
  json.close_list();
  write_times(
      log.stages, [](const StageStart& start) { return start.before; }, json);
  json.close_object().close_object();
}

// In JSON "<" stands in texts alone; written like this it cannot end the script, nor begin another.
std::string without_tags(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string page_data(const Page& page) {
  JsonWriter json(/*inline_depth=*/1);
  json.open_object();
  write_problem(page, json);
  json.key("single_device_ns");
  page.single_device ? json.value(*page.single_device) : json.null();
  json.key("runs").open_list();
  for (const ReportedRun& run : page.runs) write_run(*page.problem, run, json);
  json.close_list().key("comparisons").open_list();
  for (const Comparison& comparison : page.comparisons) write_comparison(comparison, json);
  json.close_list().key("training").open_list();
  for (const TrainingLog& log : page.training) write_training_log(log, json);
  json.close_list().key("validations").open_list();
  for (const ReportedValidation& one : page.validations) write_validation(one, json);
  json.close_list().key("online_validations").open_list();
  for (const ReportedOnlineValidation& one : page.online_validations)
    write_online_validation(one, json);
  json.close_list().key("outputs").open_list();
  for (const CommandOutput& one : page.outputs) write_command_output(one, json);
  json.close_list().key("beliefs").open_list();
  for (const ReportedBelief& belief : page.beliefs) write_belief(belief, json);
  json.close_list().close_object();
  return without_tags(json.text());
}

Result<void> can_write_pages() {
  if (!page_template().before_data.empty()) return {};
  return failed(
      "this tutti was built without its page, because node or the packages of web/ were missing: "
      "run scripts/setup and build again");
}

void write_page(const Page& page, Output& output) {
  const PageTemplate around = page_template();
  for (const std::string_view part : around.before_data) output.write(part);
  output.write("<script id=\"tutti-data\" type=\"application/json\">\n");
  output.write(page_data(page));
  output.write("</script>");
  for (const std::string_view part : around.after_data) output.write(part);
}

}  // namespace tutti
