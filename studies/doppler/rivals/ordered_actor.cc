#include "studies/doppler/rivals/ordered_actor.h"

#include <algorithm>

#include "tutti/base/check.h"
#include "tutti/plan/draft.h"
#include "tutti/policy/doppler/followed_devices.h"
#include "tutti/policy/nn/choice.h"

namespace tutti {
namespace {

class Run {
 public:
  Run(const Problem& problem, const Acting& acting, Rng rng, PlaceScorer& scorer)
      : acting_(acting),
        rng_(rng),
        scorer_(scorer),
        draft_(problem, acting.memory_share),
        device_count_(static_cast<size_t>(problem.machine.size())),
        followed_(problem.machine.size()) {
    if (acting.place_logits != nullptr) {
      acting.place_logits->assign(static_cast<size_t>(problem.graph.size()) * device_count_,
                                  kNoOdds);
    }
  }

  std::optional<Plan> run(const std::vector<int32_t>& order) {
    if (acting_.record != nullptr) {
      *acting_.record = {};
      acting_.record->devices = static_cast<int>(device_count_);
      acting_.record->ready_begin.push_back(0);
    }
    for (const int32_t index : order) {
      if (acting_.stop.now()) return std::nullopt;
      op_ = OpId{index};
      const auto devices = draft_.devices_for(op_);
      if (devices.empty()) return std::nullopt;
      devices_.assign(devices.begin(), devices.end());
      ask();
      if (acting_.overflow != nullptr && !are_numbers(logits_)) {
        *acting_.overflow = true;
        return std::nullopt;
      }
      if (acting_.place_logits != nullptr) keep_logits();
      const size_t chosen = choose();
      if (acting_.record != nullptr) record(chosen);
      draft_.apply(op_, devices_[chosen]);
      scorer_.place(op_, devices_[chosen]);
    }
    return draft_.to_plan();
  }

 private:
  // The logits of devices_. The net is not asked where there is no choice, or where none will
  // be kept.
  void ask() {
    logits_.assign(devices_.size(), 0.0F);
    const bool wanted = acting_.mode != Acting::Mode::follow || acting_.record != nullptr ||
                        acting_.place_logits != nullptr || acting_.rename_equals;
    if (devices_.size() == 1 || !wanted) return;
    scorer_.score(op_, of_all_);
    for (size_t i = 0; i < devices_.size(); ++i) {
      logits_[i] = of_all_[static_cast<size_t>(devices_[i].index)];
    }
  }

  void keep_logits() {
    float* row = acting_.place_logits->data() + static_cast<size_t>(op_.index) * device_count_;
    for (size_t i = 0; i < devices_.size(); ++i) row[devices_[i].index] = logits_[i];
  }

  size_t choose() {
    switch (acting_.mode) {
      case Acting::Mode::follow:
        return follow();
      case Acting::Mode::sample:
        return draw(logits_, rng_);
      case Acting::Mode::random_at_times:
        if (rng_.uniform() < acting_.place_randomness) return rng_.below(logits_.size());
        break;
      case Acting::Mode::greedy:
        break;
    }
    return most_likely(logits_);
  }

  size_t follow() {
    const DeviceId device = acting_.plan->placement[static_cast<size_t>(op_.index)];
    const size_t chosen = followed_.find(device, devices_);
    return acting_.rename_equals ? followed_.first_equal(chosen, devices_, logits_) : chosen;
  }

  void record(size_t chosen) {
    Episode& record = *acting_.record;
    record.op.push_back(op_.index);
    record.device.push_back(devices_[chosen].index);
    record.ready.push_back(op_.index);
    record.right_op.push_back(1);
    record.ready_begin.push_back(static_cast<int32_t>(record.ready.size()));
    right_.assign(1, devices_[chosen]);
    if (acting_.teacher != nullptr) acting_.teacher->right_devices(draft_, op_, right_);
    const auto is_right = [&](size_t i) {
      return std::find(right_.begin(), right_.end(), devices_[i]) != right_.end();
    };
    const size_t cell = record.allowed.size();
    record.allowed.resize(cell + device_count_, 0);
    record.right_device.resize(cell + device_count_, 0);
    LogShare share;
    for (size_t i = 0; i < devices_.size(); ++i) {
      const size_t at = cell + static_cast<size_t>(devices_[i].index);
      record.allowed[at] = 1;
      record.right_device[at] = is_right(i) ? 1 : 0;
      share.add(logits_[i], is_right(i));
    }
    record.likelihood.insert(record.likelihood.end(), {0.0F, share.value()});
    record.matched += is_right(most_likely(logits_)) ? 1 : 0;
    ++record.decisions;
  }

  const Acting& acting_;
  Rng rng_;
  PlaceScorer& scorer_;
  Draft draft_;
  size_t device_count_;
  FollowedDevices followed_;
  // Of the step.
  OpId op_{};
  std::vector<DeviceId> devices_;
  std::vector<DeviceId> right_;
  std::vector<float> of_all_;  // by device of the machine
  std::vector<float> logits_;  // by devices_
};

}  // namespace

std::optional<Plan> act_in_order(const Problem& problem, const std::vector<int32_t>& order,
                                 const Acting& acting, Rng rng, PlaceScorer& scorer) {
  TUTTI_CHECK(acting.mode != Acting::Mode::follow || acting.plan != nullptr);
  return Run(problem, acting, rng, scorer).run(order);
}

}  // namespace tutti
