#include "tutti/runtime/local/jobs/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// How long a slot looks for its next op before it sleeps, if cores are to spare.
constexpr Duration kSlotSpin = std::chrono::microseconds(50);
// What happened may wait for as long as an op that is shorter than this.
constexpr Duration kShortOp = std::chrono::microseconds(200);

bool takes_long(const OpEntry& entry) {
  return entry.job->job()->costs().run_time(entry.op, entry.device) > kShortOp;
}

}  // namespace

JobEngine::JobEngine(const Cluster& cluster, const OpTable& ops, Hardware& hardware,
                     JobEngineOptions options)
    : cluster_(cluster),
      ops_(ops),
      options_(std::move(options)),
      memories_(cluster.machine(), hardware,
                {.op = [this](OpEntry& entry) { queues_[entry.device.index]->push(entry); },
                 .transfer = [this](int32_t transfer) { transfers_.start(transfer); }}),
      transfers_(cluster.machine(), hardware, memories_, clock_, options_,
                 {.queue = [this](OpEntry& entry) { queues_[entry.device.index]->push(entry); },
                  .ended =
                      [this](JobRun& job, ValueId value, MemoryId to) {
                        mailbox_.send({.kind = EngineEvent::Kind::arrived,
                                       .tick = clock_.now(),
                                       .whose = &job,
                                       .value = value,
                                       .memory = to});
                      }}),
      scheduler_({cluster_, clock_, memories_, transfers_, queues_, mailbox_, options_}) {
  const Machine& machine = cluster.machine();
  set_limits(nullptr);
  clock_.calibrate();
  const bool spare =
      std::thread::hardware_concurrency() > static_cast<unsigned>(cluster.slot_count());
  spin_ = spare ? clock_.ticks_of(kSlotSpin) : 0;
  for (const DeviceId id : machine.devices()) {
    queues_.push_back(std::make_unique<DeviceQueue>(clock_));
    for (int i = 0; i < machine.device(id).slots; ++i) {
      auto slot = std::make_unique<Slot>();
      slot->device = id;
      slot->index = i;
      slot->runner = hardware.slot(id, i);
      slots_.push_back(std::move(slot));
    }
  }
  for (const auto& slot : slots_) slot->thread = std::thread([this, &slot] { work(*slot); });
}

JobEngine::~JobEngine() {
  if (scheduling_.joinable()) {
    scheduler_.stop();
    scheduling_.join();
  }
  for (const auto& queue : queues_) queue->close();
  for (const auto& slot : slots_) slot->thread.join();
}

void JobEngine::set_limits(const Problem* problem) {
  const Machine& machine = cluster_.machine();
  std::vector<int64_t> limits;
  for (int32_t i = 0; i < machine.memory_count(); ++i) {
    limits.push_back(problem != nullptr ? problem->memory_limit(MemoryId{i})
                                        : machine.memory(MemoryId{i}).capacity_bytes);
  }
  memories_.begin(limits);
}

void JobEngine::set_options(JobEngineOptions options, const Problem* limits) {
  TUTTI_CHECK(!scheduling_.joinable());
  options_ = std::move(options);
  set_limits(limits);
  for (const auto& queue : queues_) queue->note_sleeps(options_.note_sleeps);
}

Result<std::shared_ptr<JobInputs>> JobEngine::prepare(const std::shared_ptr<const Job>& job,
                                                      const FillInput& fill, bool everywhere) {
  if (options_.files) return std::shared_ptr<JobInputs>();
  return JobInputs::make(job, memories_, fill, everywhere);
}

Result<std::shared_ptr<JobRun>> JobEngine::make_run(const std::shared_ptr<const Job>& job,
                                                    std::shared_ptr<JobInputs> inputs,
                                                    JobRun::Ended ended,
                                                    const std::vector<ValueId>& keep) {
  const Graph& graph = job->graph();
  if (!options_.files) {
    if (Result<void> checked = check_sizes(graph); !checked) return checked.error();
  }
  auto run =
      std::make_shared<JobRun>(job, ops_, memories_, std::move(inputs), keep, std::move(ended));
  for (const OpId op : graph.ops()) {
    for (const DeviceId device : job->devices_for(op)) {
      if (Result<void> checked = run->codes.check(op, device); !checked) return checked.error();
    }
  }
  return run;
}

void JobEngine::begin(Decider& decider, uint64_t seed,
                      std::vector<std::shared_ptr<JobRun>> arrivals) {
  TUTTI_CHECK(!scheduling_.joinable());
  clock_.calibrate();
  scheduler_.begin(decider, seed, std::move(arrivals));
  scheduling_ = std::thread([this] { scheduler_.work(); });
}

void JobEngine::admit(std::shared_ptr<JobRun> run, bool helps) {
  scheduler_.count_job();
  mailbox_.send({.kind = EngineEvent::Kind::admitted, .tick = clock_.now(), .job = std::move(run)},
                /*urgent=*/!helps);
  if (helps) scheduler_.help();
}

void JobEngine::withdraw(const std::shared_ptr<JobRun>& run, Error why) {
  run->fail(std::move(why));
  mailbox_.send({.kind = EngineEvent::Kind::withdrawn, .tick = clock_.now(), .job = run});
}

std::optional<Error> JobEngine::wait(const std::function<bool()>& look) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  for (bool stopped = false; !stopped && !scheduler_.wait_for_end(kBetweenLooks);)
    stopped = look && look();
  scheduler_.stop();
  scheduling_.join();
  return scheduler_.error();
}

// ---- The slots

void JobEngine::work(Slot& me) {
  DeviceQueue& queue = *queues_[static_cast<size_t>(me.device.index)];
  OpEntry* entry = nullptr;
  for (;;) {
    if (entry == nullptr) {
      idle_.fetch_add(1);
      entry = queue.wait(spin_, me.index);
      idle_.fetch_sub(1);
    }
    if (entry == nullptr) return;
    entry = run(me, *entry);
  }
}

Result<void> JobEngine::enter(Slot& me) {
  if (me.entered) return {};
  const Result<void> entered = me.runner->enter();
  me.entered = entered.has_value();
  if (entered) return {};
  return failed(fmt::format("device '{}' cannot be used: {}",
                            cluster_.machine().device(me.device).name, entered.error().message));
}

void JobEngine::send(EngineEvent::Kind kind, OpEntry& entry, int64_t tick, bool urgent) {
  mailbox_.send({.kind = kind, .tick = tick, .entry = &entry}, urgent);
}

OpEntry* JobEngine::run(Slot& me, OpEntry& entry) {
  DeviceQueue& queue = *queues_[static_cast<size_t>(me.device.index)];
  JobRun& job = *entry.job;
  if (job.failed()) {
    send(EngineEvent::Kind::dropped, entry, entry.taken, /*urgent=*/true);
    return queue.take();
  }
  if (entry.first_taken == 0) entry.first_taken = entry.taken;
  if (!options_.files && !memories_.take_room(entry)) {
    // It waits for room; if its job failed meanwhile, the scheduler may have missed it.
    if (job.failed() && memories_.forget(entry))
      send(EngineEvent::Kind::dropped, entry, entry.taken, /*urgent=*/true);
    return queue.take();
  }
  entry.slot = me.index;
  entry.started = options_.files ? entry.taken : clock_.now();
  send(EngineEvent::Kind::started, entry, entry.started, /*urgent=*/false);
  if (Result<void> done = call(me, entry); !done) job.fail(done.error());
  entry.finished = clock_.now();
  job.values.finished(entry);
  OpEntry* next = queue.take();
  if (spin_ > 0) {
    send(EngineEvent::Kind::finished, entry, entry.finished, /*urgent=*/true);
    return next;
  }
  // The scheduler's thread would take this core. It is not needed as long as all slots have an op
  // and one more; a slot without one does its work.
  const bool urgent =
      next != nullptr && (queue.size() == 0 || idle_.load() > 0 || takes_long(*next));
  send(EngineEvent::Kind::finished, entry, entry.finished, urgent);
  if (next != nullptr) return next;
  scheduler_.help(queue);
  return queue.take();
}

Result<void> JobEngine::call(Slot& me, OpEntry& entry) {
  JobRun& job = *entry.job;
  const Graph& graph = job.job()->graph();
  const std::string& device = cluster_.machine().device(me.device).name;
  const bool made = job.values.make_outputs(entry);
  job.values.started(entry);
  if (!made) {
    return infeasible(fmt::format(
        "op '{}' on device '{}' needs {} bytes in memory '{}', which cannot provide them; allow "
        "more memory or place fewer ops there",
        graph.op_name(entry.op), device, entry.bytes_at_start,
        cluster_.machine().memory(entry.memory).name));
  }
  if (Result<void> entered = enter(me); !entered) return entered;
  job.values.gather(entry, me.operands, me.outputs);
  const Attributes attributes(graph.attributes(entry.op));
  OpCall call{.op = graph.op_name(entry.op),
              .device = device,
              .attributes = attributes,
              .operands = me.operands,
              .outputs = me.outputs};
  const Result<void> done = me.runner->run(*job.codes.find(entry.op, me.device), call);
  if (done) return {};
  return failed(fmt::format("op '{}' on device '{}': {}", graph.op_name(entry.op), device,
                            done.error().message));
}

}  // namespace tutti
