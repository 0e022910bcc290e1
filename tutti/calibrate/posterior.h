// What is known about one duration that is measured again and again: where it lies, how it spreads,
// and whether it has changed.
//
// The logarithm of time is taken to be Student's t around a location (4 degrees of freedom; Lange,
// Little, Taylor; JASA 1989), so that a sample far away has next to no weight: one that took 500
// times as long neither moves the estimate nor discards what came before. Delays that recur in many
// runs are part of the mean.
//
// Samples of one run are correlated, so they count as one observation: of many samples, the means
// of their four quarters are kept. Only more runs make an estimate more certain.
//
// A change that stays is another matter. It is found by the two-sided cumulative sum of residuals
// of runs (Page; Biometrika 1954), each cut so that no single run can cause an alarm; the posterior
// then goes on from the runs since the change, and says that it did. A steady duration is taken for
// a changed one less than once in 50,000 runs.

#ifndef TUTTI_CALIBRATE_POSTERIOR_H_
#define TUTTI_CALIBRATE_POSTERIOR_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

// A duration changed for good.
struct Change {
  double ratio = 1;   // the new time over the old
  int64_t since = 0;  // how many runs came before it
};

class Posterior {
 public:
  static constexpr size_t kKept = 128;    // the latest samples
  static constexpr size_t kOfOneRun = 4;  // of these at most

  struct Estimate {
    double location = 0;        // of the logarithm of nanoseconds
    double standard_error = 0;  // of the location
    double freedom = 1;         // of the location's own Student's t
    double mean_ns = 0;         // of runs, each by its weight, and what delays add to it
    double spread = 0;          // standard deviation of the logarithm: of one sample, over the mean

    struct Interval {
      double least_ns;
      double most_ns;
    };
    // Holds exp(location) with that probability.
    Interval interval(double probability) const;
  };

  // Takes in what a run took, once or several times: at least one time, all above 0. Says if it
  // makes certain that the duration has changed.
  std::optional<Change> add(std::span<const double> ns);

  // Requires a run.
  Estimate estimate() const;
  int64_t count() const { return state_.count; }        // samples ever
  int64_t outliers() const { return state_.outliers; }  // of them, far from what was expected
  int64_t runs() const { return state_.runs; }          // ever
  int64_t runs_kept() const;                            // those that the estimate is of

  struct Sample {
    double log = 0;   // of nanoseconds
    int64_t run = 0;  // counted from 0
  };
  // All there is, to be kept in a file.
  struct State {
    std::vector<Sample> samples{};  // oldest first
    int64_t runs = 0;
    int64_t count = 0;
    int64_t outliers = 0;
    double rise = 0;  // the two sums, and for how many runs each has been above 0
    double fall = 0;
    int64_t rising = 0;
    int64_t falling = 0;
  };
  const State& state() const { return state_; }
  static Posterior from(State state);

 private:
  // How many of the kept samples are from before the latest `runs` runs.
  size_t older_than(int64_t runs) const;
  // True if the run, which is not kept yet, rings the alarm.
  bool watch(std::span<const double> logs);
  Change restart();

  State state_;
};

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_POSTERIOR_H_
