#include "tutti/runtime/sim/jobs/job_simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/base/random.h"

namespace tutti {
namespace {

// Streams of random numbers, one for each purpose.
enum class Purpose : uint64_t { run_time = 1, transfer = 2, tenants = 3, counters = 4 };

Rng stream_of(uint64_t seed, Purpose purpose, int64_t job = 0, int64_t item = 0) {
  return Rng(seed)
      .split(static_cast<uint64_t>(purpose))
      .split(static_cast<uint64_t>(job))
      .split(static_cast<uint64_t>(item));
}

Duration drawn_time(Rng& rng, Duration mean) {
  return Duration(1 + static_cast<int64_t>(rng.exponential() * static_cast<double>(mean.count())));
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
struct JobSimulator::Transfer {
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
  std::vector<OpId> ops{};  // that wait for it
};

struct JobSimulator::Tenant {
  DeviceId device{};
  Rng rng{0};
  std::vector<std::vector<Draw>> draws;  // of each of its flows
  std::vector<int32_t> flows;            // while it is there
};

JobSimulator::JobSimulator(const Cluster& cluster, JobSimOptions options)
    : cluster_(cluster),
      options_(std::move(options)),
      flows_(true_capacities(cluster, options_.truth)),
      meters_(cluster_, options_, flows_.capacities()),
      ledger_(cluster, options_.counters, options_.queue_depth) {}

JobSimulator::~JobSimulator() = default;

void JobSimulator::reset(std::vector<Arrival> arrivals, uint64_t seed) {
  TUTTI_CHECK(std::is_sorted(arrivals.begin(), arrivals.end(),
                             [](const Arrival& a, const Arrival& b) { return a.time < b.time; }));
  seed_ = seed;
  arrivals_ = std::move(arrivals);
  next_arrival_ = finished_jobs_ = 0;
  decisions_ = dropped_ = turn_ = 0;
  reward_ = 0;
  changed_ = false;
  events_ = {};
  flows_.reset();
  meters_.reset(stream_of(seed, Purpose::counters).next());
  ledger_.reset();
  fetches_left_.clear();
  transfers_.clear();
  free_transfers_.clear();
  records_.clear();
  reconfigurations_.clear();
  helped_ = false;
  ran_empty_.assign(cluster_.machine().devices().size(), true);
  work_.assign(static_cast<size_t>(cluster_.slot_count()), 0);
  last_end_.assign(static_cast<size_t>(cluster_.slot_count()), Duration(-1));
  for (size_t i = 0; i < arrivals_.size(); ++i) {
    records_.push_back({.id = JobId{static_cast<int32_t>(i)},
                        .job = arrivals_[i].job,
                        .arrival = arrivals_[i].time,
                        .start = kNever});
  }
  make_tenants();
  move_on();
}

void JobSimulator::make_tenants() {
  tenants_.clear();
  const UnknownLoad& load = options_.unknown_load;
  if (load.share <= 0) return;
  for (const DeviceId device : cluster_.machine().devices()) {
    Rng rng = stream_of(seed_, Purpose::tenants, device.index);
    if (rng.uniform() >= load.spread) continue;
    auto tenant = std::make_unique<Tenant>();
    tenant->device = device;
    const Duration first = drawn_time(rng, load.mean_off);
    tenant->rng = rng;
    tenants_.push_back(std::move(tenant));
    schedule(first, Event::Kind::tenant, static_cast<int32_t>(tenants_.size()) - 1);
  }
}

void JobSimulator::switch_tenant(int32_t index) {
  Tenant& tenant = *tenants_[index];
  const UnknownLoad& load = options_.unknown_load;
  if (tenant.flows.empty()) {
    begin_tenancy(tenant);
  } else {
    for (const int32_t flow : tenant.flows) flows_.leave(flow);
    tenant.flows.clear();
  }
  const bool is_there = !tenant.flows.empty();
  schedule(now() + drawn_time(tenant.rng, is_there ? load.mean_on : load.mean_off),
           Event::Kind::tenant, index);
}

// It does something that the device is used for, as often at once as it likes.
void JobSimulator::begin_tenancy(Tenant& tenant) {
  std::vector<OpKindId> kinds;
  for (int32_t k = 0; k < static_cast<int32_t>(cluster_.kinds().size()); ++k) {
    if (cluster_.runs(OpKindId{k}, tenant.device)) kinds.push_back(OpKindId{k});
  }
  const UnknownLoad& load = options_.unknown_load;
  const double share = std::min(1.0, load.share * (0.5 + tenant.rng.uniform()));
  const auto kind = static_cast<size_t>(tenant.rng.uniform() * static_cast<double>(kinds.size()));
  const int slots = cluster_.machine().device(tenant.device).slots;
  const auto first = static_cast<int>(tenant.rng.uniform() * slots);
  if (kinds.empty()) return;
  tenant.draws.clear();
  for (int i = 0; i < load.flows; ++i) {
    const int32_t slot = cluster_.first_slot(tenant.device) + (first + i) % slots;
    const std::span<const Draw> draws = cluster_.draws(kinds[kind], slot);
    tenant.draws.emplace_back(draws.begin(), draws.end());
    for (Draw& draw : tenant.draws.back()) draw.amount *= share;
  }
  for (const std::vector<Draw>& draws : tenant.draws)
    tenant.flows.push_back(flows_.join(draws, SharedFlows::kEndless, -1));
}

void JobSimulator::schedule(Duration time, Event::Kind kind, int32_t index) {
  events_.push({time, turn_++, kind, index});
}

JobId JobSimulator::arrive(std::shared_ptr<const Job> job) {
  TUTTI_CHECK(arrivals_.empty() || arrivals_.back().time <= now());
  const bool idle = done();
  const JobId id{static_cast<int32_t>(arrivals_.size())};
  records_.push_back({.id = id, .job = job, .arrival = now(), .start = kNever});
  arrivals_.push_back({now(), std::move(job)});
  if (idle) move_on();
  return id;
}

void JobSimulator::admit(const Arrival& arrival) {
  const JobStatus& job = ledger_.admit(arrival.job);
  fetches_left_.emplace_back(job.ops.size(), 0);
  if (job.left == 0) end_job(job.id);
  changed_ = true;
}

Result<double> JobSimulator::step(const Action& action, Duration delay) {
  if (Result<void> allowed = check_action(state(), action); !allowed) return allowed.error();
  ++decisions_;
  reward_ = 0;
  const bool nothing = action.kind == Action::Kind::no_op;
  if (delay.count() == 0) {
    if (!nothing) apply(action);
    if (nothing || !can_act(state())) move_on();
    return reward_;
  }
  ledger_.begin_epoch();
  changed_ = false;
  go_on_until(now() + delay);
  const bool legal = check_action(state(), action).has_value();
  if (legal && !nothing) apply(action);
  dropped_ += legal ? 0 : 1;
  if (can_act(state()) && (!nothing || !legal || changed_)) {
    meters_.close(ledger_.readings());
  } else {
    ledger_.forget_launched();  // the clock moves on; what ended since the decision stays
    changed_ = false;
    wait_for_decision();
  }
  return reward_;
}

JobsRules JobSimulator::rules() const {
  // An op lasts from when its slot is taken, its dispatch included: that is noise to the judge.
  const bool dispatched =
      options_.dispatch.start_idle + options_.dispatch.start_behind > Duration(0) ||
      !options_.kind_factors.empty();
  return {.queue_depth = std::max(options_.queue_depth, options_.most_queue_depth),
          .capacities = {flows_.capacities().begin(), flows_.capacities().end()},
          .noise = options_.noise || dispatched,
          .hidden_load = options_.unknown_load.share > 0};
}

void JobSimulator::apply(const Action& action) {
  if (action.kind == Action::Kind::execute) return launch(action);
  const Duration until = now() + cluster_.machine().device(action.device).reconfiguration_time;
  schedule(until, Event::Kind::configured, ledger_.configure(action));
  if (options_.record)
    reconfigurations_.push_back({action.device, action.context, action.op_kind, now(), until});
}

void JobSimulator::launch(const Action& action) {
  ledger_.execute(action);
  JobStatus& job = ledger_.job(action.job);
  JobRecord& record = records_[action.job.index];
  record.start = std::min(record.start, now());
  if (options_.record) record.trace.placed.push_back({.op = action.op, .time = now()});
  for (const EdgeId edge : job.job->graph().edges(action.op)) fetch(job, action.op, edge);
  start_if_possible(job, action.op);
}

void JobSimulator::fetch(JobStatus& job, OpId op, EdgeId edge) {
  const Machine& machine = cluster_.machine();
  const Costs& costs = job.job->costs();
  const ValueId value = job.job->graph().edge_value(edge);
  const DeviceId device = job.ops[op.index].device;
  const MemoryId to = machine.memory_of(device);
  if (job.holds(to, value)) return;
  for (const auto& under_way : transfers_) {
    if (under_way->job != job.id || under_way->value != value || under_way->to != to ||
        under_way->ops.empty())
      continue;
    if (std::find(under_way->ops.begin(), under_way->ops.end(), op) == under_way->ops.end()) {
      under_way->ops.push_back(op);
      ++fetches_left(job.id, op);
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
  transfer = Transfer{.job = job.id, .value = value, .to = to, .ops = {op}};
  ++fetches_left(job.id, op);
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
      transfer.begun = now();
      schedule(now() + nanoseconds_of(static_cast<double>(given->count()) * transfer.factor),
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
  transfer.begun = now();
  schedule(now() + transfer.route->hops[0].latency, Event::Kind::hop_begins, index);
}

std::span<const Draw> JobSimulator::hop_draws(MemoryId from, const Hop& hop) {
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
void JobSimulator::begin_hop(int32_t index) {
  Transfer& transfer = *transfers_[index];
  if (transfer.given) return end_hop(index);
  const Hop& hop = transfer.route->hops[transfer.hop];
  const JobStatus& job = ledger_.job(transfer.job);
  const auto bytes = static_cast<double>(job.job->graph().bytes(transfer.value));
  flows_.join(hop_draws(transfer.from, hop), bytes * hop.ns_per_byte * transfer.factor,
              owner_of_transfer(cluster_, index));
}

void JobSimulator::end_hop(int32_t index) {
  Transfer& transfer = *transfers_[index];
  if (options_.record) {
    records_[transfer.job.index].trace.transfers.push_back(
        {transfer.value, transfer.source, transfer.to, static_cast<int>(transfer.hop),
         transfer.given, transfer.begun, now()});
  }
  if (!transfer.given && transfer.hop + 1 < transfer.route->hops.size()) {
    transfer.from = transfer.route->hops[transfer.hop].to;
    ++transfer.hop;
    transfer.begun = now();
    schedule(now() + transfer.route->hops[transfer.hop].latency, Event::Kind::hop_begins, index);
    return;
  }
  JobStatus& job = ledger_.job(transfer.job);
  ledger_.arrive(job, transfer.value, transfer.to);
  const std::vector<OpId> ops = std::move(transfer.ops);
  transfer.ops.clear();
  free_transfers_.push_back(index);
  for (const OpId op : ops) {
    --fetches_left(job.id, op);
    start_if_possible(job, op);
  }
}

bool JobSimulator::start_if_possible(JobStatus& job, OpId op) {
  const OpStatus& status = job.ops[op.index];
  if (status.phase != OpStatus::Phase::queued || fetches_left(job.id, op) > 0) return false;
  bool possible = status.slot >= 0;
  const int slots = cluster_.machine().device(status.device).slots;
  for (int s = 0; !possible && s < slots; ++s) {
    const SlotStatus& slot = state().slot(status.device, s);
    possible = slot.phase == SlotStatus::Phase::busy &&
               state().job(slot.job).ops[slot.op.index].phase == OpStatus::Phase::queued;
  }
  if (possible) start_op(job, op);
  return possible;
}

void JobSimulator::start_all(DeviceId device) {
  const int slots = cluster_.machine().device(device).slots;
  for (int s = 0; s < slots; ++s) {
    const SlotStatus slot = state().slot(device, s);
    if (slot.phase == SlotStatus::Phase::busy) start_if_possible(ledger_.job(slot.job), slot.op);
  }
  const std::vector<QueuedOp>& queue = state().devices[device.index].queue;
  for (size_t i = 0; i < queue.size();) {
    const QueuedOp queued = queue[i];
    // One that starts leaves the queue, and may put another in front of it.
    i = start_if_possible(ledger_.job(queued.job), queued.op) ? 0 : i + 1;
  }
}

void JobSimulator::start_op(JobStatus& job, OpId op) {
  const int32_t slot = ledger_.start(job, op);
  const DeviceId device = cluster_.device_of_slot(slot);
  const Costs& costs = job.job->costs();
  auto work = static_cast<double>(costs.run_time(op, device).count());
  const auto kind = static_cast<size_t>(job.job->kind(op).index);
  if (kind < options_.kind_factors.size()) work *= options_.kind_factors[kind];
  const Noise& noise = costs.run_time_noise(op, device);
  if (options_.noise && !noise.none()) {
    Rng rng = stream_of(seed_, Purpose::run_time, job.id.index, op.index);
    work *= noise.draw(rng);
  }
  work_[slot] = work;
  // A slot that decides for itself when it has nothing to go on with need not be woken.
  const bool behind = last_end_[slot] >= Duration(0) &&
                      last_end_[slot] + options_.dispatch.help + options_.decision_delay >= now();
  const Duration dispatch = behind ? options_.dispatch.start_behind : options_.dispatch.start_idle;
  if (dispatch == Duration(0)) return begin_op(slot);
  schedule(now() + dispatch, Event::Kind::op_begins, slot);
}

void JobSimulator::begin_op(int32_t slot) {
  const SlotStatus& status = state().slots[slot];
  const JobStatus& job = ledger_.job(status.job);
  flows_.join(cluster_.draws(job.job->kind(status.op), slot), work_[slot], slot);
}

void JobSimulator::end_op(int32_t slot) {
  const SlotStatus status = state().slots[slot];
  last_end_[slot] = now();
  const FinishedOp done = ledger_.finish(ledger_.job(status.job), status.op);
  if (options_.record) {
    records_[done.job.index].trace.ops.push_back({done.op, done.device,
                                                  slot - cluster_.first_slot(done.device),
                                                  done.started, done.finished});
  }
  changed_ = true;
  if (ledger_.job(done.job).left == 0) end_job(done.job);
  start_all(done.device);
  const SlotStatus& after = state().slots[slot];
  if (after.phase != SlotStatus::Phase::busy ||
      state().job(after.job).ops[after.op.index].phase == OpStatus::Phase::queued) {
    ran_empty_[done.device.index] = helped_ = true;
  }
}

void JobSimulator::lengthen_queues() {
  if (options_.most_queue_depth <= options_.queue_depth) return;
  const bool idle = state().in_system.size() <= 1 && state().busy_slots == 0;
  for (const DeviceId device : cluster_.machine().devices()) {
    const int32_t depth = state().devices[device.index].depth;
    if (idle) {
      ledger_.set_depth(device, options_.queue_depth);
    } else if (ran_empty_[device.index] && depth < options_.most_queue_depth) {
      ledger_.set_depth(device, depth + 1);
    }
    ran_empty_[device.index] = false;
  }
}

void JobSimulator::end_job(JobId id) {
  JobRecord& record = records_[id.index];
  record.finish = now();
  record.start = std::min(record.start, now());
  if (options_.record) {
    record.trace.runtime = {.name = "sim", .model = "shared"};
    record.trace.graph_fingerprint = record.job->graph().fingerprint();
    record.trace.machine_fingerprint = cluster_.machine().fingerprint();
    record.trace.seed = seed_;
    record.trace.sampled = options_.noise;
    record.trace.makespan = now();
  }
  ++finished_jobs_;
  fetches_left_[id.index] = {};
  ledger_.remove(id);
}

void JobSimulator::pass_until(Duration time) {
  const Duration elapsed = time - now();
  if (elapsed.count() <= 0) return;
  meters_.pass(elapsed, flows_.used(), flows_.full());
  flows_.advance(time);
  reward_ -= ledger_.unsettled() * static_cast<double>(elapsed.count());
  ledger_.set_time(time);
}

void JobSimulator::handle_event(const Event& event) {
  switch (event.kind) {
    case Event::Kind::hop_begins:
      begin_hop(event.index);
      break;
    case Event::Kind::tenant:
      switch_tenant(event.index);
      break;
    case Event::Kind::op_begins:
      begin_op(event.index);
      break;
    case Event::Kind::configured:
      ledger_.configured(event.index);
      changed_ = true;
      break;
  }
}

Duration JobSimulator::next_time() {
  Duration next = flows_.next_finish();
  if (!events_.empty()) next = std::min(next, events_.top().time);
  if (next_arrival_ < arrivals_.size())
    next = std::min(next, std::max(now(), arrivals_[next_arrival_].time));
  return next;
}

void JobSimulator::happen_at(Duration time) {
  TUTTI_CHECK(time < kNever);
  pass_until(time);
  ended_.clear();
  flows_.take_finished(ended_);
  for (const int32_t owner : ended_) {
    if (owner < cluster_.slot_count()) {
      end_op(owner);
    } else {
      end_hop(owner - cluster_.slot_count());
    }
  }
  while (!events_.empty() && events_.top().time <= now()) {
    const Event event = events_.top();
    events_.pop();
    handle_event(event);
  }
  while (next_arrival_ < arrivals_.size() && arrivals_[next_arrival_].time <= now())
    admit(arrivals_[next_arrival_++]);
}

void JobSimulator::go_on_until(Duration time) {
  for (Duration next = next_time(); next <= time; next = next_time()) happen_at(next);
  pass_until(time);
}

void JobSimulator::move_on() {
  ledger_.begin_epoch();
  changed_ = false;
  wait_for_decision();
}

void JobSimulator::wait_for_decision() {
  while (!done()) {
    happen_at(next_time());
    // Only when all that happens at this time has happened.
    if (changed_ && next_time() > now()) {
      changed_ = false;
      if (!can_act(state())) continue;
      const Duration reaction = helped_ ? options_.dispatch.help : options_.dispatch.reaction;
      if (reaction > Duration(0)) {
        go_on_until(now() + reaction);
        changed_ = false;
      }
      helped_ = false;
      lengthen_queues();
      break;
    }
  }
  meters_.close(ledger_.readings());
}

Result<JobsRecord> run_jobs(JobSimulator& sim, std::vector<Arrival> arrivals, Decider& decider,
                            uint64_t seed, int64_t most_decisions, const Stop& stop) {
  JobsRecord run;
  decider.begin(*sim.state().cluster, seed);
  sim.reset(std::move(arrivals), seed);
  while (!sim.done()) {
    if (sim.decisions() >= most_decisions) {
      return failed(fmt::format("after {} decisions {} jobs are still in the system",
                                sim.decisions(), sim.state().in_system.size()));
    }
    if (stop.now()) return failed("stopped before all jobs had ended");
    Duration delay = sim.options().decision_delay;
    const auto begin = std::chrono::steady_clock::now();
    const Action action = decider.decide(sim.state());
    if (sim.options().measured_delay) delay += std::chrono::steady_clock::now() - begin;
    const Result<double> reward = sim.step(action, delay);
    if (!reward) return reward.error();
    run.reward += *reward;
  }
  run.jobs = sim.jobs();
  run.reconfigurations = sim.reconfigurations();
  run.decisions = sim.decisions();
  for (const JobRecord& job : run.jobs) run.makespan = std::max(run.makespan, job.finish);
  return run;
}

}  // namespace tutti
