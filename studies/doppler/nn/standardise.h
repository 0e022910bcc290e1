// Groups of rows made comparable: each column less its mean over the group, divided by its spread.
//
// Sums are kept in double, so that equal rows give exactly 0. A column whose spread is no more than
// kLeastSpread becomes 0 and passes no gradient: ops that are alike differ by rounding alone, and
// rounding must not become a feature.

#ifndef TUTTI_STUDIES_DOPPLER_NN_STANDARDISE_H_
#define TUTTI_STUDIES_DOPPLER_NN_STANDARDISE_H_

#include <span>

namespace tutti {

inline constexpr double kSpreadEpsilon = 1e-6;  // added to a spread before dividing by it
inline constexpr double kLeastSpread = 1e-4;

// y = (x - mean) / (spread + kSpreadEpsilon), for one group of rows x columns. y may be x. Writes
// the spread of each column unless `spreads` is null.
void standardise(const float* x, int rows, int columns, float* y, double* spreads = nullptr);

// From the gradient by y to the gradient by x, given y and the spreads. dx may be dy.
void standardise_backward(const float* dy, const float* y, const double* spreads, int rows,
                          int columns, float* dx);

// The same for one column of exact numbers, of any spread.
void standardise(std::span<double> column);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_NN_STANDARDISE_H_
