// How well one list of numbers predicts the order of another.

#ifndef TUTTI_CALIBRATE_RANK_H_
#define TUTTI_CALIBRATE_RANK_H_

#include <span>
#include <vector>

namespace tutti {

// From 1 on, by ascending value; equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> values);

// Spearman's rank correlation, -1 to 1. Where all values of one list are equal it says nothing of
// the other's order: 0. Where that goes for both there is no order to tell: 1.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_RANK_H_
