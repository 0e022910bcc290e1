// How a run begins: what it needs is found or refused, values are laid out, and the ops that wait
// for nothing are queued.

#include <fmt/format.h>

#include <algorithm>

#include "tutti/runtime/local/run/run.h"

namespace tutti {
namespace {

// Whether the ops on devices with slots in use, and all inputs, are in one memory.
bool is_in_one_memory(const Problem& problem, const std::vector<int>& slots) {
  MemoryId memory{};
  for (const DeviceId device : problem.machine.devices()) {
    if (slots[static_cast<size_t>(device.index)] == 0) continue;
    if (memory.valid() && memory != problem.machine.memory_of(device)) return false;
    memory = problem.machine.memory_of(device);
  }
  for (const ValueId value : problem.graph.values()) {
    if (problem.graph.producer(value).valid()) continue;
    const MemoryId home = problem.home(value);
    if (home.valid() && home != memory) return false;
  }
  return true;
}

bool has_limits(const Problem& problem) {
  for (int32_t i = 0; i < problem.machine.memory_count(); ++i) {
    if (problem.memory_limit(MemoryId{i}) != kUnlimitedBytes) return true;
  }
  return false;
}

bool has_bytes(const Graph& graph) {
  for (const ValueId value : graph.values()) {
    if (graph.bytes(value) > 0) return true;
  }
  for (const OpId op : graph.ops()) {
    if (graph.transient_bytes(op) > 0) return true;
  }
  return false;
}

}  // namespace

Run::Run(const Machine& machine, const OpTable& ops, Hardware& hardware)
    : run_(machine),
      codes_(machine, ops),
      dispatch_(machine, run_.clock, run_.crew),
      readiness_(run_),
      values_(run_, hardware, *this) {
  for (const DeviceId id : machine.devices()) {
    for (int slot = 0; slot < machine.device(id).slots; ++slot) {
      auto worker = std::make_unique<Worker>();
      worker->device = id;
      worker->index = slot;
      worker->memory = machine.memory_of(id);
      worker->slot = dispatch_.slot(id, slot);
      workers_.push_back(std::move(worker));
    }
  }
}

Result<void> Run::begin_any(const Problem& problem, const LocalOptions& options) {
  values_.forget_last();
  workers_in_use_.clear();
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->log.clear();
    worker->looks.clear();
    worker->ended.store(0);
    worker->last_finish = 0;
  }
  run_.problem = &problem;
  run_.options = &options;
  begin_trace();
  if (problem.machine.fingerprint() != run_.machine.fingerprint()) {
    return invalid_input(
        fmt::format("the problem's machine '{}' is not '{}', to which this runtime is bound",
                    problem.machine.name(), run_.machine.name()));
  }
  if (!options.files) {
    if (Result<void> checked = check_sizes(problem.graph); !checked) return checked;
  }
  for (const ValueId value : options.keep) {
    if (value.valid() && value.index < problem.graph.value_count()) continue;
    return invalid_input(fmt::format("value {} is to be kept, but graph '{}' has {} values",
                                     value.index, problem.graph.name(),
                                     problem.graph.value_count()));
  }
  if (options.trace) ready_at_.resize(static_cast<size_t>(problem.graph.size()));
  values_.begin();
  codes_.begin(problem.graph);
  return {};
}

void Run::begin_trace() {
  const LocalOptions& options = *run_.options;
  trace_ = {};
  trace_.runtime = {.name = "local",
                    .movement = options.files    ? Movement::files
                                : options.staged ? Movement::hops
                                                 : Movement::direct,
                    .barriers = options.bulk_synchronous};
  trace_.measurement = measured_now();
  trace_.graph_fingerprint = run_.graph().fingerprint();
  trace_.machine_fingerprint = run_.problem->machine.fingerprint();
}

Result<void> Run::check_plan(const Plan& plan) const {
  const auto ops = static_cast<size_t>(run_.graph().size());
  if (plan.placement.size() != ops || plan.priority.size() != ops) {
    return invalid_input(
        fmt::format("the plan places {} ops and gives {} priorities, but graph "
                    "'{}' has {} ops",
                    plan.placement.size(), plan.priority.size(), run_.graph().name(), ops));
  }
  if (!plan.strict_order.empty() &&
      plan.strict_order.size() != static_cast<size_t>(run_.machine.size())) {
    return invalid_input(
        fmt::format("the plan's strict order is of {} devices, but machine '{}' "
                    "has {}",
                    plan.strict_order.size(), run_.machine.name(), run_.machine.size()));
  }
  for (const std::vector<OpId>& order : plan.strict_order) {
    for (const OpId op : order) {
      if (op.valid() && op.index < run_.graph().size()) continue;
      return invalid_input(
          fmt::format("the plan's strict order names op {}, but graph '{}' has {} "
                      "ops",
                      op.index, run_.graph().name(), ops));
    }
  }
  for (const OpId op : run_.graph().ops()) {
    const DeviceId device = plan.placement[static_cast<size_t>(op.index)];
    if (!device.valid() || device.index >= run_.machine.size()) {
      return invalid_input(fmt::format(
          "the plan places op '{}' on device {}, but machine '{}' has "
          "{} devices",
          run_.graph().op_name(op), device.index, run_.machine.name(), run_.machine.size()));
    }
    if (Result<void> checked = codes_.check(op, device); !checked) return checked;
  }
  return {};
}

Result<void> Run::begin(const Problem& problem, const Plan& plan, const LocalOptions& options) {
  if (Result<void> begun = begin_any(problem, options); !begun) return begun;
  if (Result<void> checked = check_plan(plan); !checked) return checked;
  run_.device_of = plan.placement.data();
  std::vector<int> slots(static_cast<size_t>(run_.machine.size()), 0);
  for (const DeviceId device : plan.placement) {
    int& used = slots[static_cast<size_t>(device.index)];
    if (used < run_.machine.device(device).slots) ++used;
  }
  if (Result<void> prepared = prepare_values(slots, plan); !prepared) return prepared;
  ranks_.set(plan.priority);
  readiness_.begin(plan);
  start(slots);
  start_plan();
  return {};
}

// Not if all is in one memory, where weights are read in place.
void Run::begin_streams(const Plan& plan) {
  run_.plan = nullptr;
  run_.streams = nullptr;
  if (run_.options->files) return;
  trace_.weights = plan.weights;
  if (run_.one_memory || !plan.weights.stated()) return;
  std::vector<MemoryId> memory_of;
  for (const OpId op : run_.graph().ops()) memory_of.push_back(run_.memory_of(op));
  streams_ = std::make_unique<Streams>(*run_.problem);
  streams_->begin(plan, memory_of);
  if (!streams_->active()) return;
  run_.plan = &plan;
  run_.streams = streams_.get();
  values_.set_streams(streams_.get());
}

Result<void> Run::prepare_values(const std::vector<int>& slots, const Plan& plan) {
  // What a plan keeps and sets aside counts where room is limited, though all is in one memory.
  const bool counts = plan.weights.stated() && has_limits(*run_.problem);
  run_.one_memory = run_.options->files || (!counts && is_in_one_memory(*run_.problem, slots));
  begin_streams(plan);
  run_.weightless = run_.options->files || (run_.one_memory && !has_bytes(run_.graph()));
  if (run_.weightless) return {};
  if (Result<void> laid_out = values_.lay_out(); !laid_out) return laid_out;
  return values_.fill_inputs();
}

void Run::start(const std::vector<int>& slots) {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->index < slots[static_cast<size_t>(worker->device.index)]) {
      workers_in_use_.push_back(worker.get());
    }
  }
  using Notes = Dispatch::Notes;
  const Notes noted = run_.options->steps ? Notes::steps : Notes::times;
  dispatch_.begin(slots, run_.graph().size(), run_.options->trace ? noted : Notes::none);
  run_.crew.begin(
      static_cast<int>(workers_in_use_.size()), [this] { return dispatch_.empty(); },
      [this] { dispatch_.ring_all(); });
  run_.clock.calibrate();
  run_.began = run_.clock.now();
}

void Run::start_plan() {
  const Graph& graph = run_.graph();
  // Before anything is sent, so that no other thread sees an op become ready.
  for (const OpId op : graph.ops()) {
    if (readiness_.is_ready(op)) queue(op, ranks_.of(op.index));
  }
  if (run_.one_memory) return;
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid() || run_.is_aside(value)) continue;
    if (run_.problem->home(value).valid()) values_.send(value);
  }
  if (run_.streams == nullptr) return;
  for (const OpId op : values_.send_streams()) {
    readiness_.operand_came(op, [&](OpId ready) { queue(ready, ranks_.of(ready.index)); });
  }
}

}  // namespace tutti
