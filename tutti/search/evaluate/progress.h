// How far a search has come in its budget: a count of simulations, or a wall clock. Under a count,
// what a search does depends on nothing else.

#ifndef TUTTI_SEARCH_EVALUATE_PROGRESS_H_
#define TUTTI_SEARCH_EVALUATE_PROGRESS_H_

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "tutti/plan/policy.h"

namespace tutti {

// The part of a budget that a walk may spend in one round.
struct BudgetSlice {
  double begin = 0;  // both in [0, 1], shares of the whole search
  double end = 1;
  int64_t evaluations = 0;  // within this slice; ignored under a wall clock
  double good_enough = 0;   // the search stops once it reaches this cost, which none can beat
};

class Progress {
 public:
  using Clock = Stop::Clock;

  // The wall clock starts to run. The budget's stop ends the search earlier (Ctrl-C).
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
  // The stop for work that may last until this share of the wall clock.
  Stop until(double share) const {
    if (!timed()) return stop_;
    return stop_.by(begin_ + std::chrono::duration_cast<Clock::duration>(share * length_));
  }

  // How far a walk is, as a share of the whole search, after so many simulations of its slice.
  double share(const BudgetSlice& slice, int64_t evaluations) const {
    if (timed()) return elapsed();
    if (slice.evaluations <= 0) return slice.end;
    const double done = static_cast<double>(evaluations) / static_cast<double>(slice.evaluations);
    return slice.begin + (slice.end - slice.begin) * done;
  }
  // True once the walk must stop.
  bool over(const BudgetSlice& slice, int64_t evaluations) const {
    return interrupted() || share(slice, evaluations) >= slice.end;
  }

 private:
  Clock::time_point begin_;
  std::chrono::duration<double> length_{0};
  Stop stop_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_EVALUATE_PROGRESS_H_
