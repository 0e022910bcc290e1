// How a run begins: what it needs is found or refused, inputs are put where they belong, and the
// ops that wait for nothing are queued.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tutti/runtime/local/run.h"
#include "tutti/trace/measurement.h"

namespace tutti {
namespace {

// Kernels write as many elements as a shape has: a value that states fewer bytes has no room.
Result<void> check_sizes(const Graph& graph) {
  for (const ValueId value : graph.values()) {
    const int64_t element = element_bytes(graph.dtype(value));
    if (element == 0 || graph.shape(value).empty()) continue;
    int64_t left = graph.bytes(value) / element;
    for (const int64_t size : graph.shape(value)) left = size == 0 ? INT64_MAX : left / size;
    if (left > 0) continue;
    return invalid_input(
        fmt::format("value '{}' states {} bytes, fewer than its shape and dtype have; leave its "
                    "bytes out",
                    graph.value_name(value), graph.bytes(value)));
  }
  return {};
}

// Whether ops with values of all dtypes can be run, so that there is nothing to check.
bool takes_any(const OpTable::Entry* code) {
  return code != nullptr && code->dtypes.empty();
}

}  // namespace

Run::Run(const Machine& machine, const OpTable& ops, Hardware& hardware)
    : machine_(machine),
      ops_(ops),
      hardware_(hardware),
      dispatch_(machine, clock_, crew_),
      rooms_(std::make_unique<Room[]>(static_cast<size_t>(machine.memory_count()))),
      lanes_(hardware, crew_) {
  for (int32_t i = 0; i < machine.memory_count(); ++i) {
    pools_.push_back(std::make_unique<Pool>(hardware.store(MemoryId{i})));
  }
  for (const DeviceId id : machine.devices()) {
    memory_of_device_.push_back(machine.memory_of(id));
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

Run::~Run() {
  release_copies(/*but_results=*/false);
  kept_inputs_.give_back();
}

Result<void> Run::begin_any(const Problem& problem, const LocalOptions& options) {
  release_copies(/*but_results=*/false);
  copies_.end();
  watch_ = nullptr;
  trace_ = {};
  trace_.runtime = options.files ? "local/files" : options.staged ? "local" : "local/direct";
  if (options.bulk_synchronous) trace_.runtime += "/bulk_synchronous";
  trace_.measurement = measured_now();
  trace_.graph_fingerprint = problem.graph.fingerprint();
  trace_.machine_fingerprint = problem.machine.fingerprint();
  workers_in_use_.clear();
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->log.clear();
    worker->looks.clear();
    worker->ended.store(0);
    worker->last_finish = 0;
  }
  if (problem.machine.fingerprint() != machine_.fingerprint()) {
    return invalid_input(
        fmt::format("the problem's machine '{}' is not '{}', to which this runtime is bound",
                    problem.machine.name(), machine_.name()));
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
  problem_ = &problem;
  options_ = &options;
  stoppable_ = true;
  next_in_order_.clear();
  level_.clear();
  absent_.resize(static_cast<size_t>(problem.graph.size()));
  if (options.trace) ready_at_.resize(static_cast<size_t>(problem.graph.size()));
  for (int32_t i = 0; i < machine_.memory_count(); ++i) {
    const MemoryId memory{i};
    pool(memory).begin(problem.memory_limit(memory));
    Room& room = rooms_[static_cast<size_t>(i)];
    const SpinHold hold(room.lock);
    room.waiting.store(0);
    room.ops.clear();
    room.transfers.clear();
  }
  {
    const SpinHold hold(transfer_log_lock_);
    transfer_log_.clear();
  }
  if (options.keep_inputs) {
    kept_inputs_.belong_to(problem.graph.fingerprint());
  } else {
    kept_inputs_.give_back();
  }
  lanes_.begin([this](Copier& copier, int32_t copy) { move(copier, copy); });
  find_code();
  return {};
}

void Run::find_code() {
  const std::vector<std::string>& kinds = problem_->graph.op_kinds();
  code_.clear();
  for (const std::string& kind : kinds) {
    for (const DeviceId device : machine_.devices()) {
      code_.push_back(ops_.find(kind, machine_.device(device).kind));
    }
  }
}

Result<void> Run::check_code(OpId op, DeviceId device) const {
  const OpTable::Entry* code = code_of(op, device);
  if (code != nullptr)
    return code->dtypes.empty() ? Result<void>() : check_dtypes(op, device, *code);
  return invalid_input(fmt::format(
      "op '{}' is of kind '{}', for which there is no code on device '{}' of kind '{}'; add some "
      "to the OpTable",
      problem_->graph.op_name(op), problem_->graph.op_kind_name(op), machine_.device(device).name,
      machine_.device(device).kind));
}

Result<void> Run::check_dtypes(OpId op, DeviceId device, const OpTable::Entry& code) const {
  const Graph& graph = problem_->graph;
  const auto check = [&](ValueId value) -> Result<void> {
    const DType dtype = graph.dtype(value);
    const bool number = dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::f64;
    if (!number || std::find(code.dtypes.begin(), code.dtypes.end(), dtype) != code.dtypes.end()) {
      return {};
    }
    std::string known;
    for (const DType each : code.dtypes) {
      known += std::string(known.empty() ? "" : " and ") + std::string(to_text(each));
    }
    return invalid_input(fmt::format(
        "op '{}' on device '{}': value '{}' is of dtype {}, and the code for kind '{}' on '{}' "
        "computes with {}; place it elsewhere, or make the graph of that dtype",
        graph.op_name(op), machine_.device(device).name, graph.value_name(value), to_text(dtype),
        graph.op_kind_name(op), machine_.device(device).kind, known));
  };
  for (const ValueId value : graph.operands(op)) {
    if (Result<void> good = check(value); !good) return good;
  }
  for (const ValueId value : graph.outputs(op)) {
    if (Result<void> good = check(value); !good) return good;
  }
  return {};
}

Result<void> Run::check_plan(const Plan& plan) const {
  const auto ops = static_cast<size_t>(problem_->graph.size());
  if (plan.placement.size() != ops || plan.priority.size() != ops) {
    return invalid_input(
        fmt::format("the plan places {} ops and gives {} priorities, but graph "
                    "'{}' has {} ops",
                    plan.placement.size(), plan.priority.size(), problem_->graph.name(), ops));
  }
  if (!plan.strict_order.empty() &&
      plan.strict_order.size() != static_cast<size_t>(machine_.size())) {
    return invalid_input(
        fmt::format("the plan's strict order is of {} devices, but machine '{}' "
                    "has {}",
                    plan.strict_order.size(), machine_.name(), machine_.size()));
  }
  for (const std::vector<OpId>& order : plan.strict_order) {
    for (const OpId op : order) {
      if (op.valid() && op.index < problem_->graph.size()) continue;
      return invalid_input(
          fmt::format("the plan's strict order names op {}, but graph '{}' has {} "
                      "ops",
                      op.index, problem_->graph.name(), ops));
    }
  }
  for (const OpId op : problem_->graph.ops()) {
    const DeviceId device = plan.placement[static_cast<size_t>(op.index)];
    const bool there = device.valid() && device.index < machine_.size();
    if (there && takes_any(code_of(op, device))) continue;
    if (!there) {
      return invalid_input(
          fmt::format("the plan places op '{}' on device {}, but machine '{}' has "
                      "{} devices",
                      problem_->graph.op_name(op), device.index, machine_.name(), machine_.size()));
    }
    if (Result<void> checked = check_code(op, device); !checked) return checked;
  }
  return {};
}

Result<void> Run::begin(const Problem& problem, const Plan& plan, const LocalOptions& options) {
  policy_ = nullptr;
  if (Result<void> begun = begin_any(problem, options); !begun) return begun;
  if (Result<void> checked = check_plan(plan); !checked) return checked;
  device_of_ = plan.placement.data();
  std::vector<int> slots(static_cast<size_t>(machine_.size()), 0);
  for (const DeviceId device : plan.placement) {
    int& used = slots[static_cast<size_t>(device.index)];
    if (used < machine_.device(device).slots) ++used;
  }
  one_memory_ = options.files || is_in_one_memory(slots);
  weightless_ = options.files || (one_memory_ && !has_bytes());
  ranks_.set(plan.priority);
  count_absent();
  if (!plan.strict_order.empty()) add_strict_orders(plan);
  if (options.bulk_synchronous) add_levels();
  if (!weightless_) {
    if (Result<void> laid_out = lay_out_copies(); !laid_out) return laid_out;
    if (Result<void> filled = fill_inputs(); !filled) return filled;
  }
  start(slots);
  start_plan();
  return {};
}

bool Run::is_in_one_memory(const std::vector<int>& slots) const {
  MemoryId memory{};
  for (const DeviceId device : machine_.devices()) {
    if (slots[static_cast<size_t>(device.index)] == 0) continue;
    if (memory.valid() && memory != machine_.memory_of(device)) return false;
    memory = machine_.memory_of(device);
  }
  for (const ValueId value : problem_->graph.values()) {
    if (problem_->graph.producer(value).valid()) continue;
    const MemoryId home = problem_->home(value);
    if (home.valid() && home != memory) return false;
  }
  return true;
}

bool Run::has_bytes() const {
  const Graph& graph = problem_->graph;
  for (const ValueId value : graph.values()) {
    if (graph.bytes(value) > 0) return true;
  }
  for (const OpId op : graph.ops()) {
    if (graph.transient_bytes(op) > 0) return true;
  }
  return false;
}

void Run::count_absent() {
  const Graph& graph = problem_->graph;
  for (const OpId op : graph.ops()) {
    int32_t absent = 0;
    for (const ValueId value : graph.operands(op)) {
      if (graph.producer(value).valid()) {
        ++absent;
      } else if (!one_memory_) {
        const MemoryId home = problem_->home(value);
        absent += home.valid() && home != memory_of(op);
      }
    }
    absent_[op.index].store(absent, std::memory_order_relaxed);
  }
}

// Each op also waits for the start of the one before it.
void Run::add_strict_orders(const Plan& plan) {
  next_in_order_.assign(static_cast<size_t>(problem_->graph.size()), OpId{});
  for (const std::vector<OpId>& order : plan.strict_order) {
    for (size_t i = 1; i < order.size(); ++i) {
      next_in_order_[static_cast<size_t>(order[i - 1].index)] = order[i];
      absent_[order[i].index].fetch_add(1, std::memory_order_relaxed);
    }
  }
}

// Each op also waits for the end of the level before its own.
void Run::add_levels() {
  const Graph& graph = problem_->graph;
  level_.assign(static_cast<size_t>(graph.size()), 0);
  ops_of_level_.clear();
  for (const OpId op : graph.topological_order()) {
    int32_t& level = level_[static_cast<size_t>(op.index)];
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (producer.valid()) {
        level = std::max(level, level_[static_cast<size_t>(producer.index)] + 1);
      }
    }
    if (static_cast<size_t>(level) == ops_of_level_.size()) ops_of_level_.emplace_back();
    ops_of_level_[static_cast<size_t>(level)].push_back(op);
    if (level > 0) absent_[op.index].fetch_add(1, std::memory_order_relaxed);
  }
  left_of_level_.resize(ops_of_level_.size());
  for (size_t i = 0; i < ops_of_level_.size(); ++i) {
    left_of_level_[static_cast<int32_t>(i)].store(static_cast<int32_t>(ops_of_level_[i].size()));
  }
}

void Run::find_kept() {
  const Graph& graph = problem_->graph;
  kept_.assign(static_cast<size_t>(graph.value_count()), 0);
  for (const ValueId value : options_->keep) kept_[static_cast<size_t>(value.index)] = 1;
  if (!options_->keep.empty()) return;
  for (const ValueId value : graph.values()) {
    kept_[static_cast<size_t>(value.index)] =
        graph.producer(value).valid() && graph.consumers(value).empty();
  }
}

Result<void> Run::lay_out_copies() {
  const Graph& graph = problem_->graph;
  find_kept();
  const int64_t others = int64_t{graph.value_count()} * (machine_.memory_count() - 1);
  const auto further = static_cast<int32_t>(
      watch_ != nullptr ? others : std::min<int64_t>(others, graph.edge_count()));
  // A plan in one memory needs none; online, inputs that are everywhere wait in the host's memory.
  const bool none = one_memory_ && policy_ == nullptr;
  copies_.begin(graph.value_count(), none ? 0 : further);
  transfers_.resize(none ? 0 : static_cast<size_t>(further));
  for (const ValueId value : graph.values()) {
    if (policy_ != nullptr) {
      lay_out_first(value);
      if (watch_ != nullptr && !one_memory_) lay_out_everywhere(value);
    } else if (Result<void> laid_out = lay_out(value); !laid_out) {
      return laid_out;
    }
  }
  return {};
}

// Online nothing is placed yet: every reader holds the first copy.
void Run::lay_out_first(ValueId value) {
  const Graph& graph = problem_->graph;
  const bool input = !graph.producer(value).valid();
  MemoryId home = input ? problem_->home(value) : MemoryId{};
  if (input && !home.valid()) home = machine_.host_memory();
  Copy& first = copies_.first(value);
  first.reset(value, graph.bytes(value), home);
  auto uses = static_cast<int32_t>(graph.consumers(value).size());
  const bool weight = input && uses > 0 && graph.is_weight(value);
  if (kept_[static_cast<size_t>(value.index)] != 0 || weight) ++uses;
  first.uses.store(uses, std::memory_order_relaxed);
}

// Where jobs arrive, nobody should have to wait for what is everywhere. Held until the last reader
// is placed, as are copies that are brought.
void Run::lay_out_everywhere(ValueId value) {
  const bool input = !problem_->graph.producer(value).valid();
  if (!input || problem_->home(value).valid() || problem_->graph.consumers(value).empty()) return;
  for (int32_t i = 0; i < machine_.memory_count(); ++i) {
    const MemoryId memory{i};
    const bool used = std::find(memory_of_device_.begin(), memory_of_device_.end(), memory) !=
                      memory_of_device_.end();
    if (!used || memory == copies_.first(value).memory) continue;
    const int32_t copy = copies_.add(value, memory);
    transfers_[copy - copies_.values()] = {};
    copies_[copy].uses.store(1, std::memory_order_relaxed);
    copies_[copy].state = Copy::State::present;
  }
}

Result<void> Run::lay_out(ValueId value) {
  const Graph& graph = problem_->graph;
  const OpId producer = graph.producer(value);
  const MemoryId home = producer.valid() ? memory_of(producer) : problem_->home(value);
  // What is everywhere is not sent; each memory that has readers gets it at the start.
  const bool everywhere = !home.valid();
  const std::span<const EdgeId> readers = graph.consumers(value);
  Copy& first = copies_.first(value);
  first.reset(value, graph.bytes(value),
              !everywhere       ? home
              : readers.empty() ? machine_.host_memory()
                                : memory_of(graph.edge_to(readers.front())));
  int32_t uses = 0;
  for (const EdgeId edge : readers) {
    const MemoryId memory = memory_of(graph.edge_to(edge));
    if (memory == first.memory) {
      ++uses;
      first.counted = true;
      continue;
    }
    int32_t copy = copies_.find(value, memory);
    if (copy < 0) {
      copy = copies_.add(value, memory);
      transfers_[copy - copies_.values()] = {};
      if (!everywhere) {
        ++uses;
        if (Result<void> way = check_way(home, memory); !way) return way;
      }
    }
    copies_[copy].uses.fetch_add(1, std::memory_order_relaxed);
  }
  const bool weight = !producer.valid() && graph.is_weight(value);
  for (int32_t copy = first.next; copy >= 0 && weight; copy = copies_[copy].next) {
    copies_[copy].uses.fetch_add(1, std::memory_order_relaxed);
  }
  if (kept_[static_cast<size_t>(value.index)] != 0 || (weight && uses > 0)) ++uses;
  first.uses.store(uses, std::memory_order_relaxed);
  return {};
}

Result<void> Run::check_way(MemoryId from, MemoryId to) {
  const Route* route = machine_.route(from, to);
  const auto none = [&](MemoryId begin, MemoryId end) {
    return infeasible(fmt::format("nothing connects memory '{}' to '{}'",
                                  machine_.memory(begin).name, machine_.memory(end).name));
  };
  if (route == nullptr) return none(from, to);
  if (!options_->staged && lanes_.join(from, to)) return {};
  for (const Hop& hop : route->hops) {
    if (!lanes_.join(from, hop.to)) return none(from, hop.to);
    from = hop.to;
  }
  return {};
}

Result<void> Run::fill_inputs() {
  for (const ValueId value : problem_->graph.values()) {
    if (problem_->graph.producer(value).valid()) continue;
    if (Result<void> filled = fill_input(value); !filled) return filled;
  }
  return check_input_room();
}

// Puts an input where it is from the start: at home, or in every memory that has a copy.
Result<void> Run::fill_input(ValueId value) {
  const Graph& graph = problem_->graph;
  const bool everywhere = !problem_->home(value).valid();
  const int64_t bytes = graph.bytes(value);
  Copy& first = copies_.first(value);
  if (bytes == 0 || (first.uses.load() == 0 && first.next < 0)) return {};
  std::vector<std::byte> buffer;
  std::vector<Copy*> empty;  // that must be filled
  const auto allocate = [&](Copy& copy) -> Result<void> {
    if (copy.counted) pool(copy.memory).take_room_anyway(bytes);
    copy.address = kept_inputs_.find(value, copy.memory);
    copy.lent = options_->keep_inputs;
    if (copy.address != nullptr) return {};
    copy.address = pool(copy.memory).allocate(bytes);
    empty.push_back(&copy);
    if (copy.address != nullptr && copy.lent) {
      kept_inputs_.keep(value, copy.memory, pool(copy.memory), copy.address, bytes);
    }
    if (copy.address != nullptr) return {};
    return infeasible(
        fmt::format("graph input '{}' needs {} bytes in memory '{}', which cannot "
                    "provide them; allow more memory",
                    graph.value_name(value), bytes, machine_.memory(copy.memory).name));
  };
  if (first.uses.load() > 0) {
    if (Result<void> allocated = allocate(first); !allocated) return allocated;
  }
  for (int32_t i = first.next; i >= 0 && everywhere; i = copies_[i].next) {
    copies_[i].counted = true;
    if (Result<void> allocated = allocate(copies_[i]); !allocated) return allocated;
  }
  if (empty.empty()) return {};
  // In place, if it can be.
  void* filled = empty[0] == &first ? first.address : nullptr;
  if (filled == nullptr || !pool(first.memory).store().ordinary()) {
    buffer.resize(static_cast<size_t>(bytes));
    filled = buffer.data();
  } else {
    std::memset(filled, 0, static_cast<size_t>(bytes));
  }
  if (options_->input) options_->input(value, {graph.shape(value), graph.dtype(value), filled});
  for (Copy* copy : empty) {
    if (copy->address == filled) continue;
    Result<void> written = pool(copy->memory).store().write(copy->address, filled, bytes);
    if (!written) return written;
  }
  return {};
}

Result<void> Run::check_input_room() const {
  for (int32_t i = 0; i < machine_.memory_count(); ++i) {
    const MemoryId memory{i};
    if (pool(memory).left() >= 0) continue;
    return infeasible(fmt::format(
        "the graph inputs that the ops in memory '{}' read take {} bytes more than its {}; allow "
        "more memory or spread the ops",
        machine_.memory(memory).name, -pool(memory).left(), bytes_to_text(pool(memory).limit())));
  }
  return {};
}

void Run::start(const std::vector<int>& slots) {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (worker->index < slots[static_cast<size_t>(worker->device.index)]) {
      workers_in_use_.push_back(worker.get());
    }
  }
  using Notes = Dispatch::Notes;
  const Notes noted = options_->steps ? Notes::steps : Notes::times;
  dispatch_.begin(slots, problem_->graph.size(), options_->trace ? noted : Notes::none);
  crew_.begin(
      static_cast<int>(workers_in_use_.size()), [this] { return dispatch_.empty(); },
      [this] { dispatch_.ring_all(); });
  clock_.calibrate();
  began_ = clock_.now();
}

void Run::start_plan() {
  const Graph& graph = problem_->graph;
  // Before anything is sent, so that nobody else sees an op become ready.
  for (const OpId op : graph.ops()) {
    if (absent_[op.index].load(std::memory_order_relaxed) == 0) queue(op, ranks_.of(op.index));
  }
  if (one_memory_) return;
  for (const ValueId value : graph.values()) {
    if (!graph.producer(value).valid() && problem_->home(value).valid()) send(value);
  }
}

}  // namespace tutti
