// Pipeline splits: the units in one order, cut into intervals, each on a device of its own, so that
// the largest load is as small as it can be for that order. A dynamic program over the places to
// cut and the devices that are used so far (after PipeDream, Narayanan et al. 2019, and the
// max-load program of Tarnawski et al. 2020, with intervals of an order in place of all ideals).

#ifndef TUTTI_SEARCH_THROUGHPUT_SPLITS_H_
#define TUTTI_SEARCH_THROUGHPUT_SPLITS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/search/throughput/loads.h"

namespace tutti {

// Orders of the units to split: as the graph's topological order meets them, the same from the end,
// and depth first, each over the ops.
std::vector<std::vector<int32_t>> orders_to_split(const LoadModel& model);

// The device of each unit under the best split. Graphs of more than 600 units are cut only at 600
// places. None if no split fits into the memories, if devices are of so many kinds that there are
// too many ways to use some of them (more than 4096), or if it was stopped.
std::optional<std::vector<int32_t>> best_split(const LoadModel& model,
                                               std::span<const int32_t> order, const Stop& stop);

}  // namespace tutti

#endif  // TUTTI_SEARCH_THROUGHPUT_SPLITS_H_
