// How far a search has come in its budget, whether that is a count of simulations or a wall clock.
// Under a count, what a search does depends on nothing else.

#ifndef TUTTI_SEARCH_PROGRESS_H_
#define TUTTI_SEARCH_PROGRESS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "tutti/plan/policy.h"

namespace tutti {

// The part of a budget that one walk may spend before it meets the others again.
struct Leg {
  double begin = 0;  // both in [0, 1], shares of the whole search
  double end = 1;
  int64_t evaluations = 0;  // within this leg; of no meaning under a wall clock
  double good_enough = 0;   // a cost that cannot be bettered: whoever reaches it stops
};

class Progress {
 public:
  using Clock = Stop::Clock;

  // The wall clock begins to run. The budget's stop ends the search earlier (Ctrl-C).
  explicit Progress(const Budget& budget) : begin_(Clock::now()), stop_(budget.stop) {
    if (budget.wall_clock) length_ = *budget.wall_clock;
  }

  bool timed() const { return length_.count() > 0; }
  // True if the search was ended from outside, whatever is left of its wall clock.
  bool interrupted() const { return stop_.now(); }
  // The share of the wall clock that is spent. Requires timed().
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_) / length_; }
  // Requires timed().
  std::chrono::duration<double> time_left() const { return (1 - elapsed()) * length_; }
  // When work has to end that may last until this share of the wall clock.
  Stop until(double share) const {
    if (!timed()) return stop_;
    return stop_.by(begin_ + std::chrono::duration_cast<Clock::duration>(share * length_));
  }

  // How far a walk is, as a share of the whole search, after so many simulations of its leg.
  double share(const Leg& leg, int64_t evaluations) const {
    if (timed()) return elapsed();
    if (leg.evaluations <= 0) return leg.end;
    const double done = static_cast<double>(evaluations) / static_cast<double>(leg.evaluations);
    return leg.begin + (leg.end - leg.begin) * done;
  }
  // True once the walk must stop.
  bool over(const Leg& leg, int64_t evaluations) const {
    return interrupted() || share(leg, evaluations) >= leg.end;
  }

 private:
  Clock::time_point begin_;
  std::chrono::duration<double> length_{0};
  Stop stop_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_PROGRESS_H_
