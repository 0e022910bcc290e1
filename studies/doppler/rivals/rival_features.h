// What Doppler's learned rivals, Placeto and GDP, are told about a problem before anything is
// placed, and the order in which they place it. They decide where ops go and nothing else, so the
// order is given: by b-level, largest first. See features.h and published_features.h for what
// Doppler's own nets are told.
//
// Times are told as log(1 + time / mean run time), so that a net trained on one scale serves on
// another and the longest op does not drown the rest.

#ifndef TUTTI_STUDIES_DOPPLER_RIVALS_RIVAL_FEATURES_H_
#define TUTTI_STUDIES_DOPPLER_RIVALS_RIVAL_FEATURES_H_

#include <cstdint>
#include <vector>

#include "studies/doppler/published/features.h"

namespace tutti {

// Kinds of ops are told apart by a digest of their names: there is no end to kinds.
inline constexpr int kKindBuckets = 16;

struct RivalFeatures {
  PublishedFeatures graph;  // edges
  int devices = 0;
  // Every op: of those whose producers came before, the one with the largest b-level; ties by id.
  std::vector<int32_t> order;
  std::vector<int32_t> step;         // by op: where in that order
  std::vector<float> run_time;       // ops x devices; the op's mean where it cannot run
  std::vector<float> mean_run_time;  // by op, over the devices that can run it
  std::vector<float>
      transfer_time;            // by op: of the most expensive of its values, over pairs of devices
  std::vector<float> bytes;     // by op: of its values, log(1 + bytes / their mean over ops)
  std::vector<int32_t> kind;    // by op: its bucket
  std::vector<float> slowness;  // by device: the mean of log(run time / the op's mean)
};

RivalFeatures rival_features(const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_RIVALS_RIVAL_FEATURES_H_
