// How a run ends: what it held is given back, what happened is written down, and a run that could
// not go on says why.

#include <fmt/format.h>

#include <algorithm>

#include "tutti/runtime/local/run/run.h"

namespace tutti {

int64_t Run::ended() const {
  int64_t sum = 0;
  for (const Worker* worker : workers_in_use_) sum += worker->ended.load(std::memory_order_relaxed);
  return sum;
}

Result<void> Run::end() {
  std::function<void()> look;
  if (run_.options->progress) {
    look = [this] { run_.options->progress(ended(), run_.graph().size()); };
  }
  std::optional<Error> error = run_.crew.wait(look);
  run_.clock.calibrate();
  if (!error && ended() < run_.graph().size()) error = explain_standstill();
  record(trace_);
  values_.release_copies(/*but_results=*/!error);
  if (error) return *error;
  return {};
}

void Run::record(Trace& trace) const {
  if (!run_.options->trace) {
    for (const Worker* worker : workers_in_use_) {
      trace.makespan = std::max(trace.makespan, run_.time_of(worker->last_finish));
    }
    return;
  }
  trace.order = ReadyOrder::priority;
  trace.ops.reserve(static_cast<size_t>(ended()));
  for (const Worker* worker : workers_in_use_) {
    for (const Worker::Span& span : worker->log) {
      trace.ops.push_back({.op = op_of(span.rank),
                           .device = worker->device,
                           .slot = worker->index,
                           .start = run_.time_of(span.start),
                           .finish = run_.time_of(span.finish)});
    }
    if (!worker->log.empty()) trace.makespan = std::max(trace.makespan, trace.ops.back().finish);
  }
  values_.record(trace);
}

std::vector<OpEvents> Run::events() const {
  std::vector<OpEvents> events;
  for (const Worker* worker : workers_in_use_) {
    for (size_t i = 0; i < worker->log.size(); ++i) {
      const Worker::Span& span = worker->log[i];
      const Dispatch::Taken look = worker->looks.empty() ? Dispatch::Taken{} : worker->looks[i];
      const OpId op = op_of(span.rank);
      events.push_back({.op = op,
                        .device = worker->device,
                        .slot = worker->index,
                        .ready = run_.time_of(ready_at_[static_cast<size_t>(op.index)]),
                        .start = run_.time_of(span.taken),
                        .finish = run_.time_of(span.finish),
                        .turn = span.rank,
                        .queued = run_.time_of(dispatch_.queued(span.rank)),
                        .look_from = run_.time_of(look.look_from),
                        .look_to = run_.time_of(look.look_to),
                        .looked = look.looked});
    }
  }
  return events;
}

std::vector<SleepEvent> Run::sleeps() const {
  std::vector<SleepEvent> sleeps;
  for (const Worker* worker : workers_in_use_) {
    for (const Dispatch::Sleep& sleep : dispatch_.sleeps(worker->slot)) {
      sleeps.push_back({.device = worker->device,
                        .slot = worker->index,
                        .look_from = run_.time_of(sleep.look_from),
                        .look_to = run_.time_of(sleep.look_to)});
    }
  }
  return sleeps;
}

Error Run::explain_standstill() const {
  std::optional<Error> error = values_.explain_wait([this](int32_t rank) { return op_of(rank); });
  if (error) return *error;
  return infeasible(fmt::format(
      "the run stands still at {} with {} ops left: the plan's strict order contradicts the graph",
      to_text(run_.now()), run_.graph().size() - ended()));
}

}  // namespace tutti
