// An Exercise is one problem in one update: the episodes of it, what they cost, and the label.

#ifndef TUTTI_TRAIN_EXERCISE_H_
#define TUTTI_TRAIN_EXERCISE_H_

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tutti/train/doppler.h"

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

// Of whatever is added; none of nothing.
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

// How the episodes and labels did; the rest of the report is left as it is.
UpdateReport summary_of(const StageSettings& how, std::span<const Exercise> exercises);

}  // namespace tutti

#endif  // TUTTI_TRAIN_EXERCISE_H_
