#include "tutti/train/doppler/exercise.h"

#include <algorithm>

namespace tutti {

UpdateReport summary_of(const StageSettings& how, std::span<const Exercise> exercises) {
  UpdateReport report;
  int64_t matched = 0;
  int64_t decisions = 0;
  Mean mean;
  Mean best;
  Mean label;
  for (const Exercise& exercise : exercises) {
    if (how.kind == StageSettings::Kind::imitate) {
      for (const Episode& episode : exercise.episodes) {
        matched += episode.matched;
        decisions += episode.decisions;
      }
    }
    matched += exercise.label_episode.matched;
    decisions += exercise.label_episode.decisions;
    if (exercise.reference == kNoPlan || exercise.reference <= 0) continue;
    Mean cost;
    double least = kNoPlan;
    for (const double one : exercise.costs) {
      if (one != kNoPlan) cost.add(one);
      least = std::min(least, one);
    }
    if (exercise.label.cost != kNoPlan) label.add(exercise.label.cost / exercise.reference);
    if (least == kNoPlan) continue;
    mean.add(*cost.value() / exercise.reference);
    best.add(least / exercise.reference);
  }
  report.mean_ratio = mean.value();
  report.best_ratio = best.value();
  report.label_ratio = label.value();
  if (decisions > 0) {
    report.match = static_cast<double>(matched) / static_cast<double>(decisions);
  }
  return report;
}

}  // namespace tutti
