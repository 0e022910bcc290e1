#include "tutti/runtime/local/run/policy_run.h"

#include <fmt/format.h>

#include <utility>

#include "tutti/base/check.h"
#include "tutti/plan/world/select_place.h"

namespace tutti {
namespace {

Result<void> check_keep(const Graph& graph, const std::vector<ValueId>& keep) {
  for (const ValueId value : keep) {
    if (value.valid() && value.index < graph.value_count()) continue;
    return invalid_input(fmt::format("value {} is to be kept, but graph '{}' has {} values",
                                     value.index, graph.name(), graph.value_count()));
  }
  return {};
}

}  // namespace

PolicyRun::PolicyRun(const Machine& machine, const OpTable& ops, Hardware& hardware)
    : cluster_(*Cluster::make(Shared<Machine>::borrowed(machine), {})),
      engine_(cluster_, ops, hardware, {}) {}

PolicyRun::~PolicyRun() = default;

Result<Trace> PolicyRun::run(const Problem& problem, Policy& policy, const LocalOptions& options) {
  run_.reset();
  trace_ = {};
  if (options.bulk_synchronous) {
    return invalid_input("a run with barriers needs a plan; make one, or run without barriers");
  }
  if (problem.machine.fingerprint() != cluster_.machine().fingerprint()) {
    return invalid_input(
        fmt::format("the problem's machine '{}' is not '{}', to which this runtime is bound",
                    problem.machine.name(), cluster_.machine().name()));
  }
  const Graph& graph = problem.graph;
  if (Result<void> good = check_keep(graph, options.keep); !good) return good.error();
  engine_.set_options({.queue_depth = kUnlimitedDepth,
                       .staged = options.staged,
                       .files = options.files,
                       .keep_results = true,
                       .note_pauses = true,
                       .note_sleeps = options.steps},
                      &problem);
  const std::shared_ptr<const Job> job = cluster_.add_job(Problem(problem));
  if (Result<void> fits = check_op_room(problem); !fits) return fits.error();
  auto inputs = engine_.prepare(job, options.input, /*everywhere=*/false);
  if (!inputs) return inputs.error();
  auto run = engine_.make_run(job, std::move(*inputs), {}, options.keep);
  if (!run) return run.error();
  if (options.stop.now()) return failed(fmt::format("cancelled after 0 of {} ops", graph.size()));
  run_ = std::move(*run);
  OnePolicy decider(policy);
  engine_.begin(decider, 0, {run_});
  const std::optional<Error> error = engine_.wait([&] {
    if (options.progress) options.progress(engine_.scheduler().ended_ops(), graph.size());
    return options.stop.now();
  });
  trace_ = run_->record().trace;
  trace_.pauses = engine_.scheduler().pauses();
  if (options.stop.now() && (error || run_->error())) {
    return failed(
        fmt::format("cancelled after {} of {} ops", engine_.scheduler().ended_ops(), graph.size()));
  }
  if (run_->error()) return *run_->error();
  if (error) return *error;
  if (!options.trace) {
    trace_.ops.clear();
    trace_.transfers.clear();
    trace_.placed.clear();
    trace_.pauses.clear();
    trace_.order.reset();
  }
  return trace_;
}

std::vector<OpEvents> PolicyRun::events() const {
  std::vector<OpEvents> events;
  if (run_ == nullptr) return events;
  const Scheduler& scheduler = engine_.scheduler();
  for (const OpId op : run_->job()->graph().ops()) {
    const OpEntry& entry = run_->entries[static_cast<size_t>(op.index)];
    if (entry.finished == 0) continue;
    const Duration queued = scheduler.time_of(entry.queued);
    const Duration taken = scheduler.time_of(entry.taken);
    events.push_back({.op = op,
                      .device = entry.device,
                      .slot = entry.slot,
                      .ready = queued,
                      .start = taken,
                      .finish = scheduler.time_of(entry.finished),
                      .turn = static_cast<int32_t>(entry.turn),
                      .queued = queued,
                      .look_from = taken,
                      .look_to = taken});
  }
  return events;
}

std::vector<SleepEvent> PolicyRun::sleeps() const {
  std::vector<SleepEvent> sleeps;
  for (const DeviceId device : cluster_.machine().devices()) {
    for (const DeviceQueue::Sleep& sleep : engine_.queue(device).sleeps()) {
      sleeps.push_back({.device = device,
                        .slot = sleep.slot,
                        .look_from = engine_.scheduler().time_of(sleep.look_from),
                        .look_to = engine_.scheduler().time_of(sleep.look_to)});
    }
  }
  return sleeps;
}

Result<std::vector<std::byte>> PolicyRun::result(ValueId value) const {
  if (run_ == nullptr) return failed("the last run failed, so that there is no result");
  return run_->result(value);
}

}  // namespace tutti
