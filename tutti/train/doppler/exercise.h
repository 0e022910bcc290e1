// An Exercise is one problem in one update: its episodes, their costs, and the label.

#ifndef TUTTI_TRAIN_DOPPLER_EXERCISE_H_
#define TUTTI_TRAIN_DOPPLER_EXERCISE_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tutti/train/doppler/trainer.h"

namespace tutti {

struct Exercise {
  const TrainingProblem* world = nullptr;
  std::unique_ptr<TrainingProblem> drawn{};
  std::shared_ptr<const NetFeatures> features{};
  SearchModel judging{};
  double reference = kNoPlan;  // what contention-aware earliest finish costs
  std::vector<Episode> episodes{};
  std::vector<Plan> plans{};
  std::vector<double> costs{};
  CostedPlan label{};
  Episode label_episode{};
};

// The mean of the numbers that were added; none if there are none.
class Mean {
 public:
  void add(double number) {
    sum_ += number;
    count_ += 1;
  }
  std::optional<double> value() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / count_);
  }

 private:
  double sum_ = 0;
  double count_ = 0;
};

// A report with the figures of episodes and labels alone.
UpdateReport summary_of(const StageSettings& how, std::span<const Exercise> exercises);

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_EXERCISE_H_
