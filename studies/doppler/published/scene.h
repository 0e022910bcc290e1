// A plan being made as the PLACE net of the configuration `as-published` sees it: for the op to
// be placed, Doppler's five numbers for each device (Yao et al. 2025). scene.h is what `default`
// sees. One thread uses one scene.

#ifndef TUTTI_STUDIES_DOPPLER_PUBLISHED_SCENE_H_
#define TUTTI_STUDIES_DOPPLER_PUBLISHED_SCENE_H_

#include <span>
#include <vector>

#include "studies/doppler/published/features.h"
#include "tutti/plan/draft.h"

namespace tutti {

// The run times on the device so far; then of the op's producers on it the sum of run times, the
// first start and the last finish; and the earliest start of the op there.
inline constexpr int kPublishedDeviceFeatures = 5;

// How starts are booked. Correct: when the operands are there and the device is free. Released: as
// the authors' code has it, the sum of the run times on the device; waiting is forgotten.
enum class Bookkeeping : uint8_t { correct, released };

class PublishedScene {
 public:
  // Keeps references to both. memory_share is as in Draft.
  PublishedScene(const Problem& problem, const PublishedFeatures& features, Bookkeeping bookkeeping,
                 double memory_share = 1);

  const State& state() const { return draft_; }

  // As booked, in mean run times.
  double earliest_start(OpId op, DeviceId device) const;
  // Of an op that is placed.
  double start(OpId op) const { return start_[static_cast<size_t>(op.index)]; }

  // A row for each of the devices, which are some of devices_for(op), standardised over them.
  void observe(OpId op, std::span<const DeviceId> devices, float* rows);

  void place(OpId op, DeviceId device);

  // Requires that every op is placed.
  Plan to_plan() const { return draft_.to_plan(); }

 private:
  double units(Duration time) const {
    return static_cast<double>(time.count()) / features_.mean_run_time_ns;
  }

  const Problem& problem_;
  const PublishedFeatures& features_;
  Bookkeeping bookkeeping_;
  Draft draft_;
  // All in mean run times.
  std::vector<double> load_;    // by device
  std::vector<double> start_;   // by op
  std::vector<double> finish_;  // by op
  std::vector<double> column_;
};

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_PUBLISHED_SCENE_H_
