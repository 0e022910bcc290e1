// The environment in which ops are placed, one after another, on a schedule with link contention;
// the simulator tells at the end how long the plan takes.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "tutti/door/c/env.h"
#include "tutti/policy/schedule/contention.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/runtime/sim/physical.h"

namespace tutti::door {
namespace {

constexpr double kNoRoomReward = -10;  // memory leaves none of the ops a device

class PlacingEnv final : public tutti_env {
 public:
  PlacingEnv(int32_t devices, int32_t window)
      : tutti_env(devices * window, devices * window * kFeatures),
        devices_(devices),
        window_(window) {}

  int32_t devices() const { return devices_; }

  void reset(std::shared_ptr<const ProblemData> data) {
    if (data != data_) {
      simulator_.reset();
      data_ = std::move(data);
      learn_problem();
    }
    schedule_.emplace(data_->problem);
    work_.assign(static_cast<size_t>(devices_), 0);
    makespan_ = Duration{0};
    placed_ = 0;
    plan_.reset();
    running = true;
    if (!show()) running = false;
  }

  Result<tutti_step> step(int32_t action) override {
    const OpId op = choices_[static_cast<size_t>(action / devices_)];
    const DeviceId device{action % devices_};
    schedule_->place(op, device);
    work_[static_cast<size_t>(device.index)] += time_ns(op, device);
    ++placed_;
    const Duration before = makespan_;
    makespan_ = std::max(makespan_, schedule_->state().finish(op));
    const auto bound = static_cast<double>(std::max<int64_t>(1, data_->lower_bound().count()));
    tutti_step result{};
    result.reward = -static_cast<double>((makespan_ - before).count()) / bound;
    if (placed_ < data_->problem.graph.size()) {
      if (show()) return result;
      running = false;
      return tutti_step{.reward = kNoRoomReward, .time_ns = -1, .terminated = 1, .truncated = 0};
    }
    running = false;
    std::fill(mask.begin(), mask.end(), 0);
    std::fill(seen.begin(), seen.end(), 0.0F);
    plan_ = schedule_->to_plan();
    if (!simulator_) simulator_.emplace(data_->problem);
    const Result<Duration> makespan = simulator_->run(*plan_, {});
    result.terminated = 1;
    if (!makespan) {
      plan_.reset();
      result.reward = kNoRoomReward;
      result.time_ns = -1;
      return result;
    }
    result.reward -= static_cast<double>((*makespan - makespan_).count()) / bound;
    result.time_ns = makespan->count();
    plan_makespan_ = *makespan;
    return result;
  }

  Result<tutti_plan*> plan() const {
    if (!plan_) return invalid_input("no episode has ended with a plan that runs");
    Plan plan = *plan_;
    plan.provenance.policy = "environment";
    note_origin(data_->problem, 0, plan.provenance);
    return plan_handle(data_, std::move(plan), plan_makespan_);
  }

 private:
  const Problem& problem() const { return data_->problem; }

  double time_ns(OpId op, DeviceId device) const {
    return static_cast<double>(problem().costs.run_time(op, device).count());
  }

  void learn_problem() {
    rank_ = upward_ranks(problem(), EdgeWeight::all_pairs);
    unit_ns_ = 0;
    for (const OpId op : problem().graph.ops()) unit_ns_ += problem().costs.mean_run_time_ns(op);
    unit_ns_ = std::max(1.0, unit_ns_ / std::max(1, problem().graph.size()));
  }

  // The ops to choose from, what is allowed, and what is seen of it. False if nothing is allowed.
  bool show() {
    const std::span<const OpId> ready = schedule_->state().ready();
    choices_.assign(ready.begin(), ready.end());
    const auto first = [this](OpId a, OpId b) {
      const double rank_a = rank_[static_cast<size_t>(a.index)];
      const double rank_b = rank_[static_cast<size_t>(b.index)];
      return rank_a != rank_b ? rank_a > rank_b : a < b;
    };
    const size_t count = std::min(choices_.size(), static_cast<size_t>(window_));
    std::partial_sort(choices_.begin(), choices_.begin() + static_cast<int64_t>(count),
                      choices_.end(), first);
    choices_.resize(count);
    std::fill(mask.begin(), mask.end(), 0);
    std::fill(seen.begin(), seen.end(), 0.0F);
    bool any = false;
    for (size_t i = 0; i < count; ++i) any = show_op(i) || any;
    return any;
  }

  bool show_op(size_t place) {
    const OpId op = choices_[place];
    const size_t first = place * static_cast<size_t>(devices_);
    const std::span<const DeviceId> allowed = schedule_->devices_for(op);
    allowed_.assign(allowed.begin(), allowed.end());
    double least_finish = 1e300;
    double least_alone = 1e300;
    double mean_work = 0;
    for (const double work : work_) mean_work += work / devices_;
    for (const DeviceId device : allowed_) {
      const size_t pair = first + static_cast<size_t>(device.index);
      mask[pair] = 1;
      float* const features = seen.data() + pair * kFeatures;
      const auto finish = static_cast<double>(schedule_->finish_on(op, device).count());
      const auto alone = static_cast<double>(schedule_->least_finish_on(op, device).count());
      least_finish = std::min(least_finish, finish);
      least_alone = std::min(least_alone, alone);
      const double time = time_ns(op, device);
      const auto free = static_cast<double>(schedule_->state().free_at(device).count());
      features[0] = static_cast<float>(time / unit_ns_);
      features[1] = static_cast<float>(finish / unit_ns_);
      features[2] = static_cast<float>(alone / unit_ns_);
      features[3] = static_cast<float>(missing_ns(op, device) / unit_ns_);
      features[4] = static_cast<float>(std::max(0.0, finish - time - free) / unit_ns_);
      features[5] =
          static_cast<float>((work_[static_cast<size_t>(device.index)] - mean_work) / unit_ns_);
      features[6] = static_cast<float>(near_ns(op, device) / unit_ns_);
      features[7] = static_cast<float>(
          (rank_[static_cast<size_t>(op.index)] - rank_[static_cast<size_t>(choices_[0].index)]) /
          unit_ns_);
    }
    for (const DeviceId device : allowed_) {
      float* const features = seen.data() + (first + static_cast<size_t>(device.index)) * kFeatures;
      features[1] -= static_cast<float>(least_finish / unit_ns_);
      features[2] -= static_cast<float>(least_alone / unit_ns_);
    }
    return !allowed_.empty();
  }

  // The time to send the operands that are in other memories.
  double missing_ns(OpId op, DeviceId device) const {
    const Problem& its = problem();
    double total = 0;
    for (const EdgeId edge : its.graph.edges(op)) {
      const OpId producer = its.graph.edge_from(edge);
      if (!producer.valid()) continue;
      total += static_cast<double>(
          its.costs.transfer_time(edge, schedule_->state().placement(producer), device).count());
    }
    return total;
  }

  // Of the ops that will read this one's outputs: the least time to send there what else they read
  // and is on that device already.
  double near_ns(OpId op, DeviceId device) const {
    const Problem& its = problem();
    double total = 0;
    for (const ValueId value : its.graph.outputs(op)) {
      for (const EdgeId out : its.graph.consumers(value)) {
        for (const EdgeId edge : its.graph.edges(its.graph.edge_to(out))) {
          const OpId producer = its.graph.edge_from(edge);
          if (!producer.valid() || producer == op) continue;
          if (schedule_->state().placement(producer) != device) continue;
          total += static_cast<double>(its.costs.least_transfer_time(edge).count());
        }
      }
    }
    return total;
  }

  int32_t devices_;
  int32_t window_;
  std::shared_ptr<const ProblemData> data_;
  std::vector<double> rank_;
  double unit_ns_ = 1;
  std::optional<ContentionSchedule> schedule_;
  std::optional<PhysicalSimulator> simulator_;
  std::vector<OpId> choices_;
  std::vector<DeviceId> allowed_;
  std::vector<double> work_;  // by device
  Duration makespan_{0};      // of the schedule
  int32_t placed_ = 0;
  std::optional<Plan> plan_;
  Duration plan_makespan_{0};
};

Result<tutti_env*> make(int32_t devices, const tutti_placing_options* options) {
  const Result<tutti_placing_options> read = options_of(options);
  if (!read) return read.error();
  const int32_t window = read->window == 0 ? 1 : read->window;
  if (devices < 1 || window < 1 || int64_t{devices} * window > kMostActions) {
    return invalid_input(
        fmt::format("a window of {} ops on {} devices; both must be at least 1, and "
                    "their product at most {}",
                    window, devices, kMostActions));
  }
  return new PlacingEnv(devices, window);
}

Result<void> reset(tutti_env* env, const tutti_problem* problem) {
  if (const Result<void> good = require("tutti_placing_env_reset", env, problem); !good)
    return good;
  auto* const placing = dynamic_cast<PlacingEnv*>(env);
  if (placing == nullptr) return invalid_input("the environment does not place ops");
  const Problem& its = problem->data->problem;
  if (its.machine.size() != placing->devices()) {
    return invalid_input(fmt::format("the machine {} has {} devices, and the environment is for {}",
                                     its.machine.name(), its.machine.size(), placing->devices()));
  }
  if (its.graph.size() == 0) return invalid_input("the graph has no ops to place");
  placing->reset(problem->data);
  if (!placing->running) return infeasible("memory leaves the first ops no device");
  return {};
}

}  // namespace
}  // namespace tutti::door

using namespace tutti;        // NOLINT: the rest of this file is in C's only namespace
using namespace tutti::door;  // NOLINT

tutti_env* tutti_placing_env_new(int32_t devices, const tutti_placing_options* options,
                                 tutti_error* error) {
  return guarded<tutti_env*>(error, nullptr, [&]() -> tutti_env* {
    const Result<tutti_env*> made = make(devices, options);
    if (made) return *made;
    tell(error, made.error());
    return nullptr;
  });
}

int tutti_placing_env_reset(tutti_env* env, const tutti_problem* problem, tutti_error* error) {
  return guarded<int>(error, TUTTI_FAILED, [&] {
    const Result<void> done = reset(env, problem);
    return done ? TUTTI_OK : tell(error, done.error());
  });
}

tutti_plan* tutti_placing_env_plan(const tutti_env* env, tutti_error* error) {
  return guarded<tutti_plan*>(error, nullptr, [&]() -> tutti_plan* {
    const auto* const placing = dynamic_cast<const PlacingEnv*>(env);
    const Result<tutti_plan*> plan =
        placing != nullptr
            ? placing->plan()
            : Result<tutti_plan*>(invalid_input("the environment does not place ops"));
    if (plan) return *plan;
    tell(error, plan.error());
    return nullptr;
  });
}
