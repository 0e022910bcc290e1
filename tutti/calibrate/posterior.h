// What is known about one duration that is measured again and again: where it lies, how it spreads,
// and whether it has changed.
//
// The logarithm of time is taken to be Student's t around a location (4 degrees of freedom; Lange,
// Little, Taylor; JASA 1989), so that a sample far away has next to no weight: one run that took
// 500 times as long neither moves the estimate nor makes anybody forget what came before. A change
// that stays is another matter. It is found by the two-sided cumulative sum of residuals (Page;
// Biometrika 1954), each cut so that no single sample can cause an alarm; the posterior then goes
// on from the samples since the change, and says that it did. A steady duration is taken for a
// changed one less than once in 50,000 samples.
//
// Keeps the latest kKept samples.

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
  int64_t since = 0;  // how many samples came before it
};

class Posterior {
 public:
  static constexpr size_t kKept = 64;

  struct Estimate {
    double location = 0;        // of the logarithm of nanoseconds
    double standard_error = 0;  // of the location
    double freedom = 1;         // of the location's own Student's t
    double mean_ns = 0;         // of the samples, by their weights
    double spread = 0;          // standard deviation of the logarithm: of one run, over the mean

    struct Interval {
      double least_ns;
      double most_ns;
    };
    // Holds exp(location) with that probability.
    Interval interval(double probability) const;
  };

  // Requires a time above 0. Says if this sample makes it certain that the duration has changed.
  std::optional<Change> add(double ns);

  // Requires a sample.
  Estimate estimate() const;
  int64_t count() const { return count_; }        // ever
  int64_t outliers() const { return outliers_; }  // of them, far from what was expected

  // All there is, to be kept in a file.
  struct State {
    std::vector<double> logs{};  // the latest samples, oldest first
    int64_t count = 0;
    int64_t outliers = 0;
    double rise = 0;  // the two sums, and for how many samples each has been above 0
    double fall = 0;
    int64_t rising = 0;
    int64_t falling = 0;
  };
  State state() const;
  static Posterior from(State state);

 private:
  // True if the latest sample, which is not kept yet, rings the alarm.
  bool watch(double log);
  Change begin_anew();

  std::vector<double> logs_;
  int64_t count_ = 0;
  int64_t outliers_ = 0;
  double rise_ = 0;
  double fall_ = 0;
  int64_t rising_ = 0;
  int64_t falling_ = 0;
};

// The estimate from samples of the logarithm of time; at least one.
Posterior::Estimate estimate_of(std::span<const double> logs);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_POSTERIOR_H_
