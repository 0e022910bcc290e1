// A few figures about samples: what a table of measurements needs.

#ifndef TUTTI_BASE_STATISTICS_H_
#define TUTTI_BASE_STATISTICS_H_

#include <cstddef>
#include <span>

namespace tutti {

struct Summary {
  size_t count = 0;
  double mean = 0;
  double median = 0;  // of an even count the mean of the two in the middle
  double least = 0;
  double most = 0;
  double deviation = 0;      // standard deviation of the sample; 0 for one
  double half_interval = 0;  // mean ± this holds the true mean with 95 %; 0 for one
};

// Requires a sample.
Summary summary_of(std::span<const double> samples);

// The t below which that share of Student's distribution lies; share is above 0 and below 1.
double student_quantile(double share, double freedom);

}  // namespace tutti

#endif  // TUTTI_BASE_STATISTICS_H_
