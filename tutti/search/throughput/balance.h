// Local search on the largest load: simulated annealing that moves one unit to another device or
// exchanges two, from a given placement. The loads are kept up to date move by move, so that a
// hundred thousand moves take a fraction of a second.

#ifndef TUTTI_SEARCH_THROUGHPUT_BALANCE_H_
#define TUTTI_SEARCH_THROUGHPUT_BALANCE_H_

#include <cstdint>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/base/stop.h"
#include "tutti/search/throughput/loads.h"

namespace tutti {

struct Balance {
  int64_t moves = 0;   // that are tried
  double heat = 0.02;  // at the beginning: by which share a move may be worse
  uint64_t seed = 0;
  Stop stop{};
};

// By unit. Never worse than `start`, which must fit. The same settings give the same result.
std::vector<int32_t> balanced(const LoadModel& model, const std::vector<int32_t>& start,
                              const Balance& how);

}  // namespace tutti

#endif  // TUTTI_SEARCH_THROUGHPUT_BALANCE_H_
