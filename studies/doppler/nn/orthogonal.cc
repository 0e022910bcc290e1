#include "studies/doppler/nn/orthogonal.h"

#include <algorithm>
#include <cmath>

namespace tutti {

// Normal numbers, made so by Gram and Schmidt, twice over against rounding.
std::vector<float> orthogonal(int out, int in, Rng rng) {
  const auto count = static_cast<size_t>(std::min(out, in));
  const auto length = static_cast<size_t>(std::max(out, in));
  std::vector<std::vector<double>> vectors(count, std::vector<double>(length));
  for (size_t i = 0; i < count; ++i) {
    std::vector<double>& vector = vectors[i];
    for (double& value : vector) value = rng.normal();
    for (int pass = 0; pass < 2; ++pass) {
      for (size_t j = 0; j < i; ++j) {
        double along = 0;
        for (size_t k = 0; k < length; ++k) along += vector[k] * vectors[j][k];
        for (size_t k = 0; k < length; ++k) vector[k] -= along * vectors[j][k];
      }
      double square = 0;
      for (const double value : vector) square += value * value;
      for (double& value : vector) value /= std::sqrt(square);
    }
  }
  std::vector<float> weights;
  weights.reserve(count * length);
  for (int o = 0; o < out; ++o) {
    for (int i = 0; i < in; ++i) {
      const auto row = static_cast<size_t>(o);
      const auto column = static_cast<size_t>(i);
      weights.push_back(
          static_cast<float>(out <= in ? vectors[row][column] : vectors[column][row]));
    }
  }
  return weights;
}

}  // namespace tutti
