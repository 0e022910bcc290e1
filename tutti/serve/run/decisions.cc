#include "tutti/serve/run/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tutti {
namespace {

constexpr size_t kKept = 200;

// When the op would be finished there, as far as the state knows.
Duration expected_finish(const State& state, OpId op, DeviceId device) {
  const Duration run_time = state.problem().costs.run_time(op, device);
  return std::max(state.earliest_start(op, device), state.now()) + run_time;
}

// Asked before the op is placed: the state is that of the decision.
std::string reason_for(const State& state, OpId op, DeviceId chosen, const std::string& policy) {
  const auto devices = state.devices_for(op);
  const std::string ready = state.ready().size() == 1
                                ? "the only op ready"
                                : fmt::format("one of {} ready", state.ready().size());
  if (devices.size() == 1) return ready + "; no other device may run it";
  const Duration finish = expected_finish(state, op, chosen);
  DeviceId best{};
  Duration best_finish = kNever;
  for (const DeviceId device : devices) {
    if (device == chosen) continue;
    const Duration other = expected_finish(state, op, device);
    if (other < best_finish) {
      best_finish = other;
      best = device;
    }
  }
  if (!best.valid()) return ready;
  const std::string mine = to_text(finish - state.now());
  const std::string theirs = to_text(best_finish - state.now());
  const std::string& other = state.problem().machine.device(best).name;
  if (finish < best_finish) {
    return fmt::format("{}; expected to finish first here, in {}; on {} in {}", ready, mine, other,
                       theirs);
  }
  if (finish == best_finish) {
    return fmt::format("{}; expected to finish in {}, as on {}", ready, mine, other);
  }
  return fmt::format("{}; {} chose it although it is expected to take {}, and {} on {}", ready,
                     policy, mine, theirs, other);
}

// When the op would be finished if nothing else were on the way.
Duration expected_time(const WorldState& state, const JobStatus& job, OpId op, DeviceId device) {
  return state.fetch_time(job, op, device) + job.job->costs().run_time(op, device);
}

std::string reason_for(const WorldState& state, const Action& action) {
  const JobStatus& job = state.job(action.job);
  size_t ready = 0;
  for (const JobId id : state.in_system) ready += state.job(id).ready.size();
  const Duration here = expected_time(state, job, action.op, action.device);
  std::string reason = fmt::format("one of {} ready ops of {} jobs; alone it takes {} here", ready,
                                   state.in_system.size(), to_text(here));
  DeviceId best{};
  for (const DeviceId device : job.job->devices_for(action.op)) {
    if (device == action.device || state.free_slot(device, job.job->kind(action.op)) < 0) continue;
    if (!best.valid() ||
        expected_time(state, job, action.op, device) < expected_time(state, job, action.op, best)) {
      best = device;
    }
  }
  if (!best.valid()) return reason + ", and no other device is free for it";
  return reason + fmt::format(", and {} on {}, the next best that is free",
                              to_text(expected_time(state, job, action.op, best)),
                              state.cluster->machine().device(best).name);
}

class RecordedPlace : public Place {
 public:
  RecordedPlace(std::unique_ptr<Place> place, std::string policy, std::string job, DecisionLog& log)
      : place_(std::move(place)), policy_(std::move(policy)), job_(std::move(job)), log_(log) {}

  DeviceId place(const State& state, OpId op) override {
    const DeviceId device = place_->place(state, op);
    const int64_t now_ms = wall_clock_ms();
    if (log_.counts_and_notes(now_ms)) {
      log_.add({now_ms, job_, std::string(state.problem().graph.op_name(op)),
                state.problem().machine.device(device).name,
                reason_for(state, op, device, policy_)});
    }
    return device;
  }

 private:
  std::unique_ptr<Place> place_;
  std::string policy_;
  std::string job_;
  DecisionLog& log_;
};

}  // namespace

void DecisionLog::add(ServedDecision decision) {
  MutexLock lock(mutex_);
  std::deque<ServedDecision>& kept = decision.op.empty() ? jobs_ : ops_;
  kept.push_front(std::move(decision));
  if (kept.size() > kKept) kept.pop_back();
}

std::vector<ServedDecision> DecisionLog::latest(size_t jobs, size_t ops) const {
  std::vector<ServedDecision> listed;
  MutexLock lock(mutex_);
  listed.assign(jobs_.begin(), jobs_.begin() + static_cast<int64_t>(std::min(jobs, jobs_.size())));
  listed.insert(listed.end(), ops_.begin(),
                ops_.begin() + static_cast<int64_t>(std::min(ops, ops_.size())));
  std::stable_sort(
      listed.begin(), listed.end(),
      [](const ServedDecision& a, const ServedDecision& b) { return a.time_ms > b.time_ms; });
  return listed;
}

bool DecisionLog::counts_and_notes(int64_t now_ms) {
  op_count_.fetch_add(1, std::memory_order_relaxed);
  return last_noted_ms_.exchange(now_ms, std::memory_order_relaxed) != now_ms;
}

Policy recorded(Policy policy, std::string policy_name, std::string job, DecisionLog& log) {
  policy.place = std::make_unique<RecordedPlace>(std::move(policy.place), std::move(policy_name),
                                                 std::move(job), log);
  return policy;
}

void note_action(const WorldState& state, const Action& action, const std::string& job,
                 DecisionLog& log) {
  if (action.kind != Action::Kind::execute) return;
  const int64_t now_ms = wall_clock_ms();
  if (!log.counts_and_notes(now_ms)) return;
  log.add({now_ms, job, std::string(state.job(action.job).job->graph().op_name(action.op)),
           state.cluster->machine().device(action.device).name, reason_for(state, action)});
}

int64_t wall_clock_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return std::max<int64_t>(1, ms);
}

}  // namespace tutti
