// How a simulated run draws its random numbers: one stream for each purpose, split by op or
// transfer, so that what is drawn for one does not depend on the order of events.

#ifndef TUTTI_RUNTIME_SIM_DRAWS_H_
#define TUTTI_RUNTIME_SIM_DRAWS_H_

#include <cmath>
#include <cstdint>

#include "tutti/base/random.h"
#include "tutti/base/time.h"

namespace tutti {

enum class Stream : uint64_t { run_times = 1, transfers = 2, order = 3 };

inline Rng stream(uint64_t seed, Stream purpose, uint64_t item) {
  return Rng(seed).split(static_cast<uint64_t>(purpose)).split(item);
}

inline Duration scaled(Duration mean, double factor) {
  return factor == 1 ? mean : Duration(std::llround(static_cast<double>(mean.count()) * factor));
}

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_DRAWS_H_
