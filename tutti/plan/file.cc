#include "tutti/plan/file.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tutti/base/file/fields.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/graph/names.h"
#include "tutti/plan/weights_file.h"

namespace tutti {
namespace {

constexpr const char* kFormat = "tutti-plan";
// Version 2 says what the timeline is of, version 3 which weights are kept where, version 4 that
// the plan is for repeated passes. A plan that has no need of them is written as version 1, which
// every tutti reads.
constexpr int64_t kPlanVersionWithTimeline = 2;
constexpr int64_t kPlanVersionWithWeights = 3;
constexpr int64_t kPlanVersionWithPasses = 4;
constexpr const char* kThroughput = "throughput";
constexpr const char* kSimulated = "sim/physical";

// Ops arrive one by one, before the header is known. What is wrong with one of them is therefore
// kept until the header has been read: that the plan is for another graph says more.
class PlanReader {
 public:
  PlanReader(std::string file, const Problem& problem)
      : file_(std::move(file)), problem_(problem), names_(problem.graph) {
    const auto ops = static_cast<size_t>(problem.graph.size());
    plan_.placement.resize(ops);
    plan_.priority.resize(ops);
    for (const DeviceId device : problem.machine.devices()) {
      devices_.emplace(problem.machine.device(device).name, device);
    }
  }

  void take(const Document& item) {
    if (wrong_op_) return;
    Fields fields(item, file_, "an op of the plan");
    read_op(fields);
    if (auto done = fields.done(); !done) wrong_op_ = done.error();
  }

  Result<Plan> finish(const Document& root) {
    Fields fields(root, file_, "the plan");
    read_header(fields);
    if (fields.good() && wrong_op_) return *wrong_op_;
    if (fields.good()) check_ops(fields);
    if (const Document* order = fields.entry("strict_order")) read_strict_order(fields, *order);
    plan_.weights = read_keeping(fields, file_, problem_);
    if (auto done = fields.done(); !done) return done.error();
    return std::move(plan_);
  }

 private:
  void read_op(Fields& fields) {
    const std::string name = fields.text("op");
    const std::string device_name = fields.text("device");
    const int64_t priority =
        fields.integer("priority", {.least = std::numeric_limits<int64_t>::min()});
    const bool timed = fields.entry("start_ns") != nullptr || fields.entry("finish_ns") != nullptr;
    Duration start{0};
    Duration finish{0};
    if (timed) {
      start = Duration(fields.integer("start_ns", {.most = kNever.count()}));
      finish = Duration(fields.integer("finish_ns", {.most = kNever.count()}));
    }
    if (!fields.good()) return;

    const std::optional<OpId> op = names_.find(name);
    if (!op) return fields.fail(fmt::format("the graph has no op '{}'", name));
    const auto device = devices_.find(device_name);
    if (device == devices_.end()) {
      return fields.fail(fmt::format("the machine has no device '{}'", device_name));
    }
    if (plan_.placement[op->index].valid()) {
      return fields.fail(fmt::format("op '{}' stands twice in the plan; remove one", name));
    }
    plan_.placement[op->index] = device->second;
    plan_.priority[op->index] = priority;
    ++op_count_;
    if (timed && timed_count_++ == 0) {
      plan_.start.resize(plan_.placement.size());
      plan_.finish.resize(plan_.placement.size());
    }
    if (timed) {
      plan_.start[op->index] = start;
      plan_.finish[op->index] = finish;
    }
  }

  void read_header(Fields& fields) {
    if (fields.text("format") != kFormat) {
      fields.fail(fmt::format("\"format\" must be \"{}\": this is not a plan", kFormat));
    }
    fields.schema_version(1, kPlanVersionWithPasses);
    read_timeline(fields);
    read_objective(fields);
    fields.text("graph", "");
    fields.text("machine", "");
    fields.items("ops");
    Provenance& provenance = plan_.provenance;
    provenance.policy = fields.text("policy", "");
    provenance.seed = fields.seed("seed");
    provenance.evaluations = fields.integer("evaluations", {.fallback = 0});
    provenance.note = fields.text("note", "");
    provenance.validation = fields.text("validation", "");
    provenance.graph_fingerprint = fields.fingerprint("graph_fingerprint");
    provenance.machine_fingerprint = fields.fingerprint("machine_fingerprint");
    provenance.costs_fingerprint = fields.fingerprint("costs_fingerprint");
    const Document* planned = fields.entry("planned_makespan_ns");
    if (planned != nullptr && planned->kind != Document::Kind::null) {
      plan_.planned_makespan =
          Duration(fields.integer("planned_makespan_ns", {.most = kNever.count()}));
    }
    if (provenance.graph_fingerprint != problem_.graph.fingerprint()) {
      fields.fail(fmt::format("the plan was made for another graph ({}, not {}); make a new plan",
                              fingerprint_text(provenance.graph_fingerprint),
                              fingerprint_text(problem_.graph.fingerprint())));
    }
  }

  void read_timeline(Fields& fields) {
    const std::string timeline = fields.text("timeline", "");
    plan_.simulated = timeline == kSimulated;
    if (timeline.empty() || plan_.simulated) return;
    fields.fail(
        fmt::format("\"timeline\" must be \"{}\" or left out, not \"{}\"", kSimulated, timeline));
  }

  void read_objective(Fields& fields) {
    const std::string objective = fields.text("objective", "");
    if (objective.empty()) return;
    if (objective != kThroughput) {
      fields.fail(fmt::format("\"objective\" must be \"{}\" or left out, not \"{}\"", kThroughput,
                              objective));
      return;
    }
    const int64_t in_flight = fields.integer("passes_in_flight", {.least = 1, .most = kMostPasses});
    const int64_t time = fields.integer("time_per_pass_ns", {.most = kNever.count()});
    plan_.passes = {.in_flight = static_cast<int>(in_flight), .time_per_pass = Duration(time)};
  }

  void check_ops(Fields& fields) {
    for (const OpId op : problem_.graph.ops()) {
      if (plan_.placement[op.index].valid()) continue;
      return fields.fail(
          fmt::format("op '{}' is missing from the plan", problem_.graph.op_name(op)));
    }
    if (timed_count_ != 0 && timed_count_ != op_count_) {
      fields.fail("either all ops have start_ns and finish_ns, or none has");
    }
    if (timed_count_ == 0 && plan_.simulated) {
      fields.fail("\"timeline\" says what start_ns and finish_ns are of, but no op has them");
    }
    if (timed_count_ > 0) return;
    // Plans of tutti 0.1 without a timeline say 0.
    if (plan_.planned_makespan.value_or(Duration{0}).count() != 0) {
      fields.fail(
          "\"planned_makespan_ns\" is the end of a timeline, but no op has start_ns and "
          "finish_ns; leave it out");
    }
    plan_.planned_makespan.reset();
  }

  void read_strict_order(Fields& fields, const Document& order) {
    if (order.kind != Document::Kind::object) {
      return fields.fail_at(order, "\"strict_order\" must be a table from devices to lists of ops");
    }
    plan_.strict_order.resize(static_cast<size_t>(problem_.machine.size()));
    for (size_t i = 0; i < order.items.size(); ++i) {
      const auto device = devices_.find(order.keys[i]);
      if (device == devices_.end()) {
        return fields.fail_at(order.items[i],
                              fmt::format("strict_order names the device '{}', which the machine "
                                          "has not",
                                          order.keys[i]));
      }
      if (order.items[i].kind != Document::Kind::array) {
        return fields.fail_at(order.items[i], "each entry of strict_order must be a list of ops");
      }
      for (const Document& item : order.items[i].items) {
        const std::optional<OpId> op =
            item.kind == Document::Kind::text ? names_.find(item.text) : std::nullopt;
        if (!op) {
          return fields.fail_at(item, fmt::format("strict_order names '{}', which is no op of the "
                                                  "graph",
                                                  item.text));
        }
        plan_.strict_order[device->second.index].push_back(*op);
      }
    }
  }

  std::string file_;
  const Problem& problem_;
  NameIndex names_;
  std::unordered_map<std::string, DeviceId> devices_;
  Plan plan_{};
  int64_t op_count_ = 0;
  int64_t timed_count_ = 0;
  std::optional<Error> wrong_op_;
};

void write_strict_order(const Plan& plan, const Problem& problem, JsonWriter& json) {
  json.key("strict_order").open_object();
  for (const DeviceId device : problem.machine.devices()) {
    const std::vector<OpId>& order = plan.strict_order[device.index];
    if (order.empty()) continue;
    json.key(problem.machine.device(device).name).open_list();
    for (const OpId op : order) json.value(problem.graph.op_name(op));
    json.close_list();
  }
  json.close_object();
}

}  // namespace

std::string plan_to_json(const Plan& plan, const Problem& problem) {
  const Provenance& provenance = plan.provenance;
  JsonWriter json;
  json.open_object();
  const bool simulated = !plan.start.empty() && plan.simulated;
  json.field("format", kFormat);
  json.field("schema_version", plan.passes             ? kPlanVersionWithPasses
                               : plan.weights.stated() ? kPlanVersionWithWeights
                               : simulated             ? kPlanVersionWithTimeline
                                                       : int64_t{1});
  json.field("graph", problem.graph.name()).field("machine", problem.machine.name());
  json.field("policy", provenance.policy).field("seed", std::to_string(provenance.seed));
  json.field("evaluations", provenance.evaluations);
  if (!provenance.note.empty()) json.field("note", provenance.note);
  if (!provenance.validation.empty()) json.field("validation", provenance.validation);
  json.field("graph_fingerprint", fingerprint_text(provenance.graph_fingerprint));
  json.field("machine_fingerprint", fingerprint_text(provenance.machine_fingerprint));
  json.field("costs_fingerprint", fingerprint_text(provenance.costs_fingerprint));
  if (plan.planned_makespan && !plan.start.empty()) {
    json.field("planned_makespan_ns", *plan.planned_makespan);
  }
  if (simulated) json.field("timeline", kSimulated);
  if (plan.passes) {
    json.field("objective", kThroughput).field("passes_in_flight", plan.passes->in_flight);
    json.field("time_per_pass_ns", plan.passes->time_per_pass);
  }
  if (plan.weights.stated()) write_keeping(plan.weights, problem, json);
  json.key("ops").open_list();
  for (const OpId op : problem.graph.ops()) {
    json.open_object();
    json.field("op", problem.graph.op_name(op));
    json.field("device", problem.machine.device(plan.placement[op.index]).name);
    json.field("priority", plan.priority[op.index]);
    if (!plan.start.empty()) {
      json.field("start_ns", plan.start[op.index]).field("finish_ns", plan.finish[op.index]);
    }
    json.close_object();
  }
  json.close_list();
  if (!plan.strict_order.empty()) write_strict_order(plan, problem, json);
  json.close_object();
  return json.take();
}

Result<Plan> read_plan(Source& source, const Problem& problem) {
  PlanReader reader(source.name(), problem);
  const Result<Document> root =
      read_json_streamed(source, {"ops"}, [&](std::string_view, Document&& item) -> Result<void> {
        reader.take(item);
        return {};
      });
  if (!root) return root.error();
  return reader.finish(*root);
}

}  // namespace tutti
