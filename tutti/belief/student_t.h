// Student's t with a whole number of degrees of freedom, and what it says about a counter.
//
// A counter c with true value v is read N times with normal error of unknown size. Its mean m and
// standard deviation S then give v ~ m + S/sqrt(N) * t(N-1) (Banerjee et al. 2020, section 3; there
// S is called a variance but used as a standard deviation, and so it is here).

#ifndef TUTTI_BELIEF_STUDENT_T_H_
#define TUTTI_BELIEF_STUDENT_T_H_

#include "tutti/machine/counter.h"

namespace tutti {

// Beyond this many degrees of freedom t is taken to have this many: the 97.5 % point then differs
// from the normal one by 0.6 %.
inline constexpr int kMostFreedom = 200;

// Pr(T <= t), exact up to rounding. Requires freedom >= 1.
double student_t_cdf(double t, int freedom);
// The t of which Pr(T <= t) = p. Requires 0 < p < 1, freedom >= 1.
double student_t_quantile(double p, int freedom);

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

#endif  // TUTTI_BELIEF_STUDENT_T_H_
