#include "tutti/belief/counter_belief.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"
#include "tutti/belief/draws.h"

namespace tutti {

CounterBelief belief_of(const CounterReading& reading) {
  TUTTI_CHECK(reading.count >= 1);
  const bool few = reading.count < kFewestReadings;
  const double spread =
      few ? std::max(reading.spread, kDoubtfulShare * std::fabs(reading.mean)) : reading.spread;
  const int freedom = few ? kFewestReadings - 1 : reading.count - 1;
  return {.center = reading.mean,
          .scale = spread / std::sqrt(static_cast<double>(reading.count)),
          .freedom = freedom,
          .most = central_bound(freedom)};
}

}  // namespace tutti
