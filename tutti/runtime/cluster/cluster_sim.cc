#include "tutti/runtime/cluster/cluster_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/base/random.h"

namespace tutti {
namespace {

using OpPhase = OpStatus::Phase;
using SlotPhase = SlotStatus::Phase;

// Streams of random numbers, one for each purpose.
enum class Purpose : uint64_t { run_time = 1, transfer = 2, tenants = 3, counters = 4 };

Rng stream_of(uint64_t seed, Purpose purpose, int64_t job = 0, int64_t item = 0) {
  return Rng(seed)
      .split(static_cast<uint64_t>(purpose))
      .split(static_cast<uint64_t>(job))
      .split(static_cast<uint64_t>(item));
}

Duration exponential(Rng& rng, Duration mean) {
  return Duration(
      1 + static_cast<int64_t>(-std::log(1 - rng.uniform()) * static_cast<double>(mean.count())));
}

std::vector<double> true_capacities(const Cluster& cluster, const HiddenTruth& truth) {
  const Machine& machine = cluster.machine();
  std::vector<double> capacities;
  for (const SharedResource& item : cluster.resources().list()) {
    double share = 1;
    switch (item.resource.kind) {
      case Resource::Kind::memory:
        share = truth.memory;
        break;
      case Resource::Kind::cache:
        share = truth.cache;
        break;
      case Resource::Kind::host:
        share = truth.root;
        break;
      case Resource::Kind::channel: {
        const std::string& name = machine.channel(ChannelId{item.resource.index}).name;
        const auto& switches = machine.spec().switches;
        share = std::any_of(switches.begin(), switches.end(),
                            [&](const auto& s) { return s.name == name; })
                    ? truth.switched
                    : truth.link;
        break;
      }
      case Resource::Kind::machine:
      case Resource::Kind::device:
      case Resource::Kind::core:
        break;
    }
    capacities.push_back(item.capacity * share);
  }
  return capacities;
}

// Owners of flows: slots, then transfers.
int32_t owner_of_transfer(const Cluster& cluster, int32_t transfer) {
  return cluster.slot_count() + transfer;
}

}  // namespace

// One value on its way to one memory; several ops may wait for it.
struct ClusterSim::Transfer {
  JobId job{};
  ValueId value{};
  MemoryId from{};  // where the hop under way began
  MemoryId source{};
  MemoryId to{};
  const Route* route = nullptr;
  size_t hop = 0;
  double factor = 1;  // noise
  Duration begun{0};  // the hop
  bool given = false;
  std::vector<int32_t> slots{};  // whose ops wait for it
};

struct ClusterSim::Tenant {
  Draw draw{};
  double capacity = 0;
  Rng rng{0};
  int32_t flow = -1;  // while it is there
};

ClusterSim::ClusterSim(const Cluster& cluster, ClusterOptions options)
    : cluster_(cluster),
      options_(std::move(options)),
      flows_(true_capacities(cluster, options_.truth)),
      meters_(cluster_, options_, flows_.capacities()) {
  state_.cluster = &cluster_;
  state_.counters = options_.counters;
}

ClusterSim::~ClusterSim() = default;

void ClusterSim::reset(std::vector<Arrival> arrivals, uint64_t seed) {
  TUTTI_CHECK(std::is_sorted(arrivals.begin(), arrivals.end(),
                             [](const Arrival& a, const Arrival& b) { return a.time < b.time; }));
  seed_ = seed;
  arrivals_ = std::move(arrivals);
  next_arrival_ = finished_jobs_ = 0;
  decisions_ = turn_ = unsettled_count_ = 0;
  reward_ = unsettled_ = 0;
  changed_ = false;
  events_ = {};
  flows_.reset();
  meters_.reset(stream_of(seed, Purpose::counters).next());
  state_.now = Duration(0);
  state_.epoch = 0;
  state_.jobs.clear();
  state_.jobs.resize(arrivals_.size());
  state_.in_system.clear();
  state_.slots.assign(static_cast<size_t>(cluster_.slot_count()), {});
  state_.busy_slots = 0;
  state_.pending.assign(cluster_.kinds().size(), 0);
  state_.finished.clear();
  state_.readings.assign(options_.counters.size(), {});
  state_.launched.clear();
  fetches_left_.assign(state_.slots.size(), 0);
  waiting_for_.assign(arrivals_.size(), {});
  transfers_.clear();
  free_transfers_.clear();
  records_.clear();
  for (size_t i = 0; i < arrivals_.size(); ++i) {
    records_.push_back({.id = JobId{static_cast<int32_t>(i)},
                        .job = arrivals_[i].job,
                        .arrival = arrivals_[i].time,
                        .start = kNever});
  }
  make_tenants();
  move_on();
}

void ClusterSim::make_tenants() {
  tenants_.clear();
  const UnknownLoad& load = options_.unknown_load;
  if (load.share <= 0) return;
  for (int32_t r = 0; r < cluster_.resources().size(); ++r) {
    const Resource& resource = cluster_.resources()[r].resource;
    const bool is_host_memory =
        resource.kind == Resource::Kind::memory &&
        std::any_of(cluster_.machine().hosts().begin(), cluster_.machine().hosts().end(),
                    [&](const Host& host) { return resource_of(host.memory) == resource; });
    if (!is_host_memory && resource.kind != Resource::Kind::core &&
        resource.kind != Resource::Kind::channel)
      continue;
    Rng rng = stream_of(seed_, Purpose::tenants, r);
    if (rng.uniform() >= load.spread) continue;
    auto tenant = std::make_unique<Tenant>();
    tenant->draw.resource = r;
    tenant->capacity = flows_.capacities()[r];
    const Duration first = exponential(rng, load.mean_off);
    tenant->rng = rng;
    tenants_.push_back(std::move(tenant));
    schedule(first, Event::Kind::tenant, static_cast<int32_t>(tenants_.size()) - 1);
  }
}

void ClusterSim::switch_tenant(int32_t index) {
  Tenant& tenant = *tenants_[index];
  if (tenant.flow >= 0) {
    flows_.leave(tenant.flow);
    tenant.flow = -1;
  } else {
    const double share = options_.unknown_load.share * (0.5 + tenant.rng.uniform());
    tenant.draw.amount = std::min(1.0, share) * tenant.capacity;
    tenant.flow = flows_.join({&tenant.draw, 1}, ClusterFlows::kEndless, -1);
  }
  const UnknownLoad& load = options_.unknown_load;
  schedule(state_.now + exponential(tenant.rng, tenant.flow >= 0 ? load.mean_on : load.mean_off),
           Event::Kind::tenant, index);
}

void ClusterSim::schedule(Duration time, Event::Kind kind, int32_t index) {
  events_.push({time, turn_++, kind, index});
}

double ClusterSim::weight(const JobStatus& job, OpId op) const {
  return 1.0 / static_cast<double>(job.job->least_run_time(op).count());
}

void ClusterSim::admit(size_t arrival) {
  const JobId id{static_cast<int32_t>(arrival)};
  auto status = std::make_unique<JobStatus>();
  const Job& job = *arrivals_[arrival].job;
  const Graph& graph = job.graph();
  status->id = id;
  status->job = arrivals_[arrival].job;
  status->arrival = arrivals_[arrival].time;
  status->ops.resize(static_cast<size_t>(graph.size()));
  status->left = graph.size();
  status->copies.assign(static_cast<size_t>(graph.value_count()), 0);
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    const MemoryId home = job.problem().home(value);
    status->copies[value.index] = home.valid() ? uint64_t{1} << home.index : ~uint64_t{0};
  }
  if (state_.pending.size() < cluster_.kinds().size())
    state_.pending.resize(cluster_.kinds().size(), 0);
  std::vector<int32_t>& waiting = waiting_for_[arrival];
  waiting.assign(static_cast<size_t>(graph.size()), 0);
  JobStatus& added = *status;
  state_.jobs[arrival] = std::move(status);
  state_.in_system.push_back(id);
  for (const OpId op : graph.ops()) {
    ++state_.pending[job.kind(op).index];
    for (const EdgeId edge : graph.edges(op)) waiting[op.index] += graph.edge_from(edge).valid();
  }
  for (const OpId op : graph.ops()) {
    if (waiting[op.index] == 0) make_ready(added, op);
  }
  if (graph.size() == 0) end_job(added);
  changed_ = true;
}

void ClusterSim::make_ready(JobStatus& job, OpId op) {
  job.ops[op.index].phase = OpPhase::ready;
  job.ready.insert(std::lower_bound(job.ready.begin(), job.ready.end(), op), op);
  unsettled_ += weight(job, op);
  ++unsettled_count_;
}

Result<double> ClusterSim::step(const Action& action) {
  if (Result<void> allowed = check_action(state_, action); !allowed) return allowed.error();
  ++decisions_;
  reward_ = 0;
  switch (action.kind) {
    case Action::Kind::execute:
      launch(action);
      break;
    case Action::Kind::reconfigure:
      configure(action);
      break;
    case Action::Kind::no_op:
      move_on();
      return reward_;
  }
  if (!can_act(state_)) move_on();
  return reward_;
}

void ClusterSim::configure(const Action& action) {
  const int32_t slot = cluster_.first_slot(action.device) + action.context;
  SlotStatus& status = state_.slots[slot];
  status.phase = SlotPhase::reconfiguring;
  status.since = state_.now;
  status.configured = action.op_kind;
  ++state_.busy_slots;
  schedule(state_.now + cluster_.machine().device(action.device).reconfiguration_time,
           Event::Kind::configured, slot);
}

void ClusterSim::launch(const Action& action) {
  JobStatus& job = *state_.jobs[action.job.index];
  const OpKindId kind = job.job->kind(action.op);
  const int own = state_.free_slot(action.device, kind);
  const int32_t slot = cluster_.first_slot(action.device) + own;
  SlotStatus& status = state_.slots[slot];
  status.phase = SlotPhase::busy;
  status.job = action.job;
  status.op = action.op;
  status.since = state_.now;
  ++state_.busy_slots;
  --state_.pending[kind.index];
  cluster_.add_launched(kind, slot, state_.launched);
  OpStatus& op = job.ops[action.op.index];
  op.phase = OpPhase::fetching;
  op.device = action.device;
  op.slot = own;
  op.launched = state_.now;
  job.ready.erase(std::lower_bound(job.ready.begin(), job.ready.end(), action.op));
  JobRecord& record = records_[action.job.index];
  record.start = std::min(record.start, state_.now);
  fetches_left_[slot] = 0;
  for (const EdgeId edge : job.job->graph().edges(action.op)) fetch(job, action.op, edge, slot);
  if (fetches_left_[slot] == 0) start_op(slot);
}

void ClusterSim::fetch(JobStatus& job, OpId op, EdgeId edge, int32_t slot) {
  const Machine& machine = cluster_.machine();
  const Costs& costs = job.job->costs();
  const ValueId value = job.job->graph().edge_value(edge);
  const DeviceId device = job.ops[op.index].device;
  const MemoryId to = machine.memory_of(device);
  if (job.holds(to, value)) return;
  for (const auto& under_way : transfers_) {
    if (under_way->job != job.id || under_way->value != value || under_way->to != to ||
        under_way->slots.empty())
      continue;
    if (std::find(under_way->slots.begin(), under_way->slots.end(), slot) ==
        under_way->slots.end()) {
      under_way->slots.push_back(slot);
      ++fetches_left_[slot];
    }
    return;
  }
  auto index = static_cast<int32_t>(transfers_.size());
  if (free_transfers_.empty()) {
    transfers_.push_back(std::make_unique<Transfer>());
  } else {
    index = free_transfers_.back();
    free_transfers_.pop_back();
  }
  Transfer& transfer = *transfers_[index];
  transfer = Transfer{.job = job.id, .value = value, .to = to, .slots = {slot}};
  ++fetches_left_[slot];
  if (options_.noise && !costs.transfer_noise().none()) {
    Rng rng = stream_of(seed_, Purpose::transfer, job.id.index, value.index);
    transfer.factor = costs.transfer_noise().draw(rng);
  }
  const OpId producer = job.job->graph().edge_from(edge);
  if (producer.valid() && costs.has_given_transfers()) {
    const DeviceId from = job.ops[producer.index].device;
    if (const auto given = costs.given_transfer(edge, from, device)) {
      transfer.given = true;
      transfer.source = machine.memory_of(from);
      transfer.begun = state_.now;
      schedule(state_.now + nanoseconds_of(static_cast<double>(given->count()) * transfer.factor),
               Event::Kind::hop_begins, index);
      return;
    }
  }
  Duration least = kNever;
  for (int32_t m = 0; m < machine.memory_count(); ++m) {
    if (!job.holds(MemoryId{m}, value) || machine.route(MemoryId{m}, to) == nullptr) continue;
    const Duration time = costs.transfer_time(value, MemoryId{m}, to);
    if (time >= least) continue;
    least = time;
    transfer.from = transfer.source = MemoryId{m};
    transfer.route = machine.route(MemoryId{m}, to);
  }
  TUTTI_CHECK(transfer.route != nullptr);
  transfer.begun = state_.now;
  schedule(state_.now + transfer.route->hops[0].latency, Event::Kind::hop_begins, index);
}

std::span<const Draw> ClusterSim::hop_draws(MemoryId from, const Hop& hop) {
  for (const auto& [known, draws] : hop_draws_) {
    if (known == &hop) return draws;
  }
  // At the full speed of the hop alone.
  std::vector<Draw> draws;
  if (hop.ns_per_byte > 0) cluster_.resources().add_hop(from, hop, 1e9 / hop.ns_per_byte, draws);
  hop_draws_.emplace_back(&hop, std::move(draws));
  return hop_draws_.back().second;
}

// Its latency is over (or, for a given time, all of it).
void ClusterSim::begin_hop(int32_t index) {
  Transfer& transfer = *transfers_[index];
  if (transfer.given) return end_hop(index);
  const Hop& hop = transfer.route->hops[transfer.hop];
  const JobStatus& job = *state_.jobs[transfer.job.index];
  const auto bytes = static_cast<double>(job.job->graph().bytes(transfer.value));
  flows_.join(hop_draws(transfer.from, hop), bytes * hop.ns_per_byte * transfer.factor,
              owner_of_transfer(cluster_, index));
}

void ClusterSim::end_hop(int32_t index) {
  Transfer& transfer = *transfers_[index];
  if (options_.record) {
    records_[transfer.job.index].trace.transfers.push_back(
        {transfer.value, transfer.source, transfer.to, static_cast<int>(transfer.hop),
         transfer.given, transfer.begun, state_.now});
  }
  if (!transfer.given && transfer.hop + 1 < transfer.route->hops.size()) {
    transfer.from = transfer.route->hops[transfer.hop].to;
    ++transfer.hop;
    transfer.begun = state_.now;
    schedule(state_.now + transfer.route->hops[transfer.hop].latency, Event::Kind::hop_begins,
             index);
    return;
  }
  JobStatus& job = *state_.jobs[transfer.job.index];
  job.copies[transfer.value.index] |= uint64_t{1} << transfer.to.index;
  const std::vector<int32_t> slots = std::move(transfer.slots);
  transfer.slots.clear();
  free_transfers_.push_back(index);
  for (const int32_t slot : slots) {
    if (--fetches_left_[slot] == 0) start_op(slot);
  }
}

void ClusterSim::start_op(int32_t slot) {
  const SlotStatus& status = state_.slots[slot];
  JobStatus& job = *state_.jobs[status.job.index];
  OpStatus& op = job.ops[status.op.index];
  op.phase = OpPhase::running;
  op.started = state_.now;
  const Costs& costs = job.job->costs();
  auto work = static_cast<double>(costs.run_time(status.op, op.device).count());
  const Noise& noise = costs.run_time_noise(status.op, op.device);
  if (options_.noise && !noise.none()) {
    Rng rng = stream_of(seed_, Purpose::run_time, job.id.index, status.op.index);
    work *= noise.draw(rng);
  }
  flows_.join(cluster_.draws(job.job->kind(status.op), slot), work, slot);
}

void ClusterSim::end_op(int32_t slot) {
  SlotStatus& status = state_.slots[slot];
  JobStatus& job = *state_.jobs[status.job.index];
  const OpId op = status.op;
  OpStatus& done = job.ops[op.index];
  done.phase = OpPhase::done;
  done.finished = state_.now;
  status.phase = SlotPhase::idle;
  status.job = {};
  status.op = {};
  status.since = state_.now;
  --state_.busy_slots;
  unsettled_ -= weight(job, op);
  if (--unsettled_count_ == 0) unsettled_ = 0;
  if (options_.reward == Reward::as_printed) {
    const auto ns = static_cast<double>(std::max<int64_t>(1, (state_.now - done.launched).count()));
    reward_ -= 1e6 / ns;
  }
  state_.finished.push_back(
      {job.id, op, job.job->kind(op), done.device, done.launched, done.started, done.finished});
  if (options_.record) {
    records_[job.id.index].trace.ops.push_back(
        {op, done.device, done.slot, done.started, done.finished});
  }
  const Graph& graph = job.job->graph();
  std::vector<int32_t>& waiting = waiting_for_[job.id.index];
  for (const ValueId value : graph.outputs(op)) {
    job.copies[value.index] |= uint64_t{1} << cluster_.machine().memory_of(done.device).index;
    for (const EdgeId edge : graph.consumers(value)) {
      const OpId to = graph.edge_to(edge);
      if (--waiting[to.index] == 0) make_ready(job, to);
    }
  }
  changed_ = true;
  if (--job.left == 0) end_job(job);
}

void ClusterSim::end_job(JobStatus& job) {
  JobRecord& record = records_[job.id.index];
  record.finish = state_.now;
  record.start = std::min(record.start, state_.now);
  if (options_.record) {
    record.trace.runtime = "cluster";
    record.trace.graph_fingerprint = record.job->graph().fingerprint();
    record.trace.machine_fingerprint = cluster_.machine().fingerprint();
    record.trace.seed = seed_;
    record.trace.sampled = options_.noise;
    record.trace.makespan = state_.now;
  }
  ++finished_jobs_;
  std::erase(state_.in_system, job.id);
  waiting_for_[job.id.index] = {};
  state_.jobs[job.id.index].reset();
}

void ClusterSim::pass_until(Duration time) {
  const Duration elapsed = time - state_.now;
  if (elapsed.count() <= 0) return;
  meters_.pass(elapsed, flows_.used(), flows_.full());
  flows_.advance(time);
  const auto ns = static_cast<double>(elapsed.count());
  if (options_.reward == Reward::slowdown) reward_ -= unsettled_ * ns;
  if (options_.reward == Reward::elapsed && !state_.in_system.empty()) reward_ -= ns * 1e-9;
  state_.now = time;
}

void ClusterSim::handle_event(const Event& event) {
  switch (event.kind) {
    case Event::Kind::hop_begins:
      begin_hop(event.index);
      break;
    case Event::Kind::tenant:
      switch_tenant(event.index);
      break;
    case Event::Kind::configured:
      state_.slots[event.index].phase = SlotPhase::idle;
      state_.slots[event.index].since = state_.now;
      --state_.busy_slots;
      changed_ = true;
      break;
  }
}

void ClusterSim::move_on() {
  state_.finished.clear();
  state_.launched.clear();
  changed_ = false;
  while (!done()) {
    Duration next = flows_.next_finish();
    if (!events_.empty()) next = std::min(next, events_.top().time);
    if (next_arrival_ < arrivals_.size())
      next = std::min(next, std::max(state_.now, arrivals_[next_arrival_].time));
    TUTTI_CHECK(next < kNever);
    pass_until(next);
    // All that happens at this time, before anybody is asked.
    ended_.clear();
    flows_.take_finished(ended_);
    for (const int32_t owner : ended_) {
      if (owner < cluster_.slot_count()) {
        end_op(owner);
      } else {
        end_hop(owner - cluster_.slot_count());
      }
    }
    while (!events_.empty() && events_.top().time <= state_.now) {
      const Event event = events_.top();
      events_.pop();
      handle_event(event);
    }
    while (next_arrival_ < arrivals_.size() && arrivals_[next_arrival_].time <= state_.now)
      admit(next_arrival_++);
    if (changed_ && flows_.next_finish() > state_.now &&
        (events_.empty() || events_.top().time > state_.now)) {
      changed_ = false;
      if (can_act(state_)) break;
    }
  }
  ++state_.epoch;
  meters_.close(state_.readings);
}

Result<ClusterRun> run_cluster(ClusterSim& sim, std::vector<Arrival> arrivals,
                               Dispatcher& dispatcher, uint64_t seed, int64_t most_decisions) {
  ClusterRun run;
  dispatcher.begin(*sim.state().cluster, seed);
  sim.reset(std::move(arrivals), seed);
  while (!sim.done()) {
    if (sim.decisions() >= most_decisions) {
      return failed(fmt::format("after {} decisions {} jobs are still in the system",
                                sim.decisions(), sim.state().in_system.size()));
    }
    Result<double> reward = sim.step(dispatcher.decide(sim.state()));
    if (!reward) return reward.error();
    run.reward += *reward;
  }
  run.jobs = sim.jobs();
  run.decisions = sim.decisions();
  for (const JobRecord& job : run.jobs) run.makespan = std::max(run.makespan, job.finish);
  return run;
}

}  // namespace tutti
