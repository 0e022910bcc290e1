// How well one list of numbers foretells the order of another.

#ifndef TUTTI_CALIBRATE_RANK_H_
#define TUTTI_CALIBRATE_RANK_H_

#include <span>
#include <vector>

namespace tutti {

// From 1 on, by ascending value; equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values);

// Spearman's rank correlation, -1 to 1. 1 if either list has nothing to order: all its values are
// equal, or there are fewer than two.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_RANK_H_
