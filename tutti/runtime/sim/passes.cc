#include "tutti/runtime/sim/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "tutti/graph/builder.h"
#include "tutti/graph/limits.h"
#include "tutti/plan/policy.h"

namespace tutti {

// Builds the graph and machine of several passes. Given times speak of kinds of devices, so devices
// that differ in speed or kind each get a kind of their own.
class Unroller {
 public:
  explicit Unroller(Passes& passes)
      : passes_(passes),
        problem_(*passes.problem_),
        graph_(problem_.graph),
        builder_(graph_.name()) {
    const Problem& problem = problem_;
    for (const DeviceId device : problem.machine.devices()) {
      const std::string& kind = problem.machine.device(device).kind;
      const int speed = problem.costs.device_class(device);
      const std::string name = fmt::format("{}.{}", kind, speed);
      const auto known = std::find(kinds_.begin(), kinds_.end(), name);
      kind_of_.push_back(static_cast<size_t>(known - kinds_.begin()));
      if (known != kinds_.end()) continue;
      kinds_.push_back(name);
      examples_.push_back(device);
    }
  }

  Result<void> build() {
    if (problem_.costs.has_given_transfers() && kinds_.size() > 16) {
      return invalid_input("repeated passes need at most 16 kinds of devices");
    }
    values_.assign(static_cast<size_t>(graph_.value_count()), ValueId{});
    add_shared_weights();
    passes_.weights_ = values_;
    for (int pass = 0; pass < passes_.count(); ++pass) add_pass(pass);
    Result<Graph> graph = std::move(builder_).build();
    if (!graph) return graph.error();
    MachineSpec spec = problem_.machine.spec();
    for (size_t i = 0; i < spec.devices.size(); ++i) {
      spec.devices[i].device.kind = kinds_[kind_of_[i]];
    }
    Result<Machine> machine = Machine::build(std::move(spec));
    if (!machine) return machine.error();
    Constraints constraints;
    constraints.memory = problem_.has_memory_limits();
    for (int32_t i = 0; i < machine->memory_count(); ++i) {
      const int64_t limit = problem_.memory_limit(MemoryId{i});
      if (limit == kUnlimitedBytes) continue;
      constraints.memory_limits.push_back({machine->memory(MemoryId{i}).name, limit});
    }
    Result<Problem> unrolled =
        Problem::make(std::move(*graph), std::move(*machine), {}, constraints);
    if (!unrolled) return unrolled.error();
    passes_.unrolled_ = std::make_unique<const Problem>(std::move(*unrolled));
    passes_.simulator_ = std::make_unique<PhysicalSimulator>(*passes_.unrolled_);
    return {};
  }

 private:
  ValueSpec spec_of(ValueId value, int pass) const {
    ValueSpec spec{.bytes = graph_.bytes(value), .dtype = graph_.dtype(value)};
    if (!graph_.producer(value).valid()) {
      spec.name = pass < 0 ? graph_.value_name(value)
                           : fmt::format("{}@{}", graph_.value_name(value), pass);
    }
    return spec;
  }

  void add_shared_weights() {
    for (const ValueId value : graph_.values()) {
      if (graph_.producer(value).valid() || !graph_.is_weight(value)) continue;
      values_[value.index] = builder_.add_input(
          {.value = spec_of(value, -1), .residence = graph_.residence(value), .weight = true});
    }
  }

  void add_pass(int pass) {
    for (const ValueId value : graph_.values()) {
      if (graph_.producer(value).valid() || graph_.is_weight(value)) continue;
      values_[value.index] =
          builder_.add_input({.value = spec_of(value, pass), .residence = graph_.residence(value)});
    }
    // Ops keep their numbers, so an operand may be made by an op that comes later.
    std::vector<std::pair<EdgeId, ValueId>> later;
    for (const OpId op : graph_.ops()) add_op(pass, op, later);
    for (const auto& [edge, value] : later) builder_.connect(edge, values_[value.index]);
    for (const ValueId value : graph_.values()) {
      if (graph_.producer(value).valid()) values_[value.index] = ValueId{};
    }
  }

  void add_op(int pass, OpId op, std::vector<std::pair<EdgeId, ValueId>>& later) {
    std::vector<ValueId> operands;
    EdgeId edge{builder_.edge_count()};
    const EdgeId first = edge;
    for (const ValueId value : graph_.operands(op)) {
      operands.push_back(values_[value.index]);
      if (!operands.back().valid()) later.emplace_back(edge, value);
      ++edge.index;
    }
    std::vector<ValueSpec> outputs;
    int64_t transient = graph_.transient_bytes(op);
    for (const ValueId value : graph_.outputs(op)) {
      outputs.push_back(spec_of(value, pass));
      if (!graph_.consumers(value).empty()) continue;
      transient += std::exchange(outputs.back().bytes, 0);  // it leaves with the op
    }
    std::vector<GivenTime> run_times;
    for (size_t kind = 0; kind < kinds_.size(); ++kind) {
      const Duration time = problem_.costs.run_time(op, examples_[kind]);
      if (time < kNever) run_times.push_back({kinds_[kind], time});
    }
    const OpId added = builder_.add_op({.name = fmt::format("{}@{}", graph_.op_name(op), pass),
                                        .kind = graph_.op_kind_name(op),
                                        .operands = operands,
                                        .outputs = outputs,
                                        .transient_bytes = transient,
                                        .run_times = run_times});
    if (builder_.too_large()) return;
    ValueId made = *builder_.outputs(added).begin();
    for (const ValueId value : graph_.outputs(op)) {
      values_[value.index] = made;
      ++made.index;
    }
    if (problem_.costs.has_given_transfers()) give_transfers(op, first);
  }

  void give_transfers(OpId op, EdgeId added) {
    for (const EdgeId edge : graph_.edges(op)) {
      for (size_t from = 0; from < kinds_.size(); ++from) {
        for (size_t to = 0; to < kinds_.size(); ++to) {
          const auto time = problem_.costs.given_transfer(edge, examples_[from], examples_[to]);
          if (time) builder_.give_transfer(added, {kinds_[from], kinds_[to], *time});
        }
      }
      ++added.index;
    }
  }

  Passes& passes_;
  const Problem& problem_;
  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<std::string> kinds_;
  std::vector<DeviceId> examples_;  // one device of each kind
  std::vector<size_t> kind_of_;     // by device
  std::vector<ValueId> values_;     // by value of the graph: in the pass that is being added
};

Result<Passes> Passes::make(const Problem& problem, int in_flight) {
  const double ops_and_edges =
      static_cast<double>(problem.graph.size()) + static_cast<double>(problem.graph.edge_count());
  if (in_flight < 1 || in_flight > kMostPasses ||
      !check_made(3 * static_cast<double>(in_flight) * ops_and_edges)) {
    return invalid_input(fmt::format(
        "{} passes of a graph of {} ops and {} edges are too many to simulate; give fewer with "
        "--passes",
        in_flight, problem.graph.size(), problem.graph.edge_count()));
  }
  Passes passes(problem, in_flight);
  if (const Result<void> built = Unroller(passes).build(); !built) return built.error();
  return passes;
}

Plan Passes::unroll(const Plan& plan) const {
  const int32_t size = problem_->graph.size();
  // By priority, then by number, as in a run of one pass.
  std::vector<int32_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return std::pair(plan.priority[a], a) < std::pair(plan.priority[b], b);
  });
  Plan all;
  all.placement.resize(static_cast<size_t>(size) * static_cast<size_t>(count()));
  all.priority.resize(all.placement.size());
  all.strict_order.resize(plan.strict_order.size());
  for (int32_t pass = 0; pass < count(); ++pass) {
    for (int32_t i = 0; i < size; ++i) {
      const auto at = static_cast<size_t>(pass * size + order[i]);
      all.placement[at] = plan.placement[order[i]];
      all.priority[at] = static_cast<int64_t>(pass) * size + i;
    }
    for (size_t device = 0; device < plan.strict_order.size(); ++device) {
      for (const OpId op : plan.strict_order[device]) {
        all.strict_order[device].push_back(OpId{pass * size + op.index});
      }
    }
  }
  all.weights = plan.weights;
  for (std::vector<ValueId>& kept : all.weights.kept) {
    for (ValueId& weight : kept) weight = weights_[weight.index];
    std::sort(kept.begin(), kept.end());
  }
  return all;
}

Result<Duration> Passes::time_per_pass(const Plan& plan, const Stop& stop) {
  const int32_t size = problem_->graph.size();
  if (size == 0) return Duration{0};
  const Result<Duration> makespan = simulator_->run(
      unroll(plan), {.stop = stop, .window = {.ops = size, .in_flight = in_flight_}});
  if (!makespan) return makespan.error();
  if (*makespan == kNever) return out_of_time();
  const auto ended = [&](int passes) {  // F
    Duration latest{0};
    for (OpId op{0}; op.index < passes * size; ++op.index) {
      latest = std::max(latest, simulator_->finish(op));
    }
    return latest;
  };
  const int64_t length = (ended(2 * in_flight_) - ended(in_flight_)).count();
  return std::max(Duration((length + in_flight_ - 1) / in_flight_), busiest(plan));
}

Duration Passes::busiest(const Plan& plan) const {
  std::vector<Duration> work(static_cast<size_t>(problem_->machine.size()));
  for (const OpId op : problem_->graph.ops()) {
    const DeviceId device = plan.placement[op.index];
    work[static_cast<size_t>(device.index)] += problem_->costs.run_time(op, device);
  }
  Duration most{0};
  for (const DeviceId device : problem_->machine.devices()) {
    const int slots = problem_->machine.device(device).slots;
    most = std::max(most, (work[static_cast<size_t>(device.index)] + Duration(slots - 1)) / slots);
  }
  return most;
}

}  // namespace tutti
