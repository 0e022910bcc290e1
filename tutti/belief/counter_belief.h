// What the readings of a counter say about its true value.
//
// A counter c with true value v is read N times with normal error of unknown size. Its mean m and
// standard deviation S then give v ~ m + S/sqrt(N) * t(N-1) (Banerjee et al. 2020, section 3; there
// S is called a variance but used as a standard deviation, and so it is here).

#ifndef TUTTI_BELIEF_COUNTER_BELIEF_H_
#define TUTTI_BELIEF_COUNTER_BELIEF_H_

#include "tutti/machine/counter.h"

namespace tutti {

// Where a value lies, by its readings: center + scale * t(freedom), cut to the central 95 %.
struct CounterBelief {
  double center = 0;
  double scale = 0;
  int freedom = 0;
  double most = 0;  // |t| is at most this
};

// With fewer than four readings t has hardly any moments: the spread is then taken to be at least
// `kDoubtfulShare` of the mean, and the freedom 3. Requires reading.count >= 1.
inline constexpr int kFewestReadings = 4;
inline constexpr double kDoubtfulShare = 0.5;
CounterBelief belief_of(const CounterReading& reading);

}  // namespace tutti

#endif  // TUTTI_BELIEF_COUNTER_BELIEF_H_
