#include "studies/doppler/nn/standardise.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

constexpr int kBlock = 64;  // columns at a time, so that sums stay in the nearest cache

}  // namespace

void standardise(const float* x, int rows, int columns, float* y, double* spreads) {
  for (int first = 0; first < columns; first += kBlock) {
    const int count = std::min(kBlock, columns - first);
    double mean[kBlock] = {};
    double square[kBlock] = {};
    for (int row = 0; row < rows; ++row) {
      const float* from = x + static_cast<size_t>(row) * static_cast<size_t>(columns) + first;
      for (int i = 0; i < count; ++i) mean[i] += static_cast<double>(from[i]);
    }
    for (int i = 0; i < count; ++i) mean[i] /= rows;
    for (int row = 0; row < rows; ++row) {
      const float* from = x + static_cast<size_t>(row) * static_cast<size_t>(columns) + first;
      for (int i = 0; i < count; ++i) {
        const double difference = static_cast<double>(from[i]) - mean[i];
        square[i] += difference * difference;
      }
    }
    double scale[kBlock];
    for (int i = 0; i < count; ++i) {
      const double spread = std::sqrt(square[i] / rows);
      scale[i] = spread > kLeastSpread ? 1.0 / (spread + kSpreadEpsilon) : 0.0;
      if (spreads != nullptr) spreads[first + i] = spread;
    }
    for (int row = 0; row < rows; ++row) {
      const size_t at = static_cast<size_t>(row) * static_cast<size_t>(columns);
      const float* from = x + at + first;
      float* to = y + at + first;
      for (int i = 0; i < count; ++i) {
        to[i] = static_cast<float>((static_cast<double>(from[i]) - mean[i]) * scale[i]);
      }
    }
  }
}

// With a = 1 / (spread + epsilon): dx = a (dy - mean(dy)) - y mean(dy y) / spread.
void standardise_backward(const float* dy, const float* y, const double* spreads, int rows,
                          int columns, float* dx) {
  for (int first = 0; first < columns; first += kBlock) {
    const int count = std::min(kBlock, columns - first);
    double mean[kBlock] = {};
    double along[kBlock] = {};
    for (int row = 0; row < rows; ++row) {
      const size_t at = static_cast<size_t>(row) * static_cast<size_t>(columns);
      const float* gradient = dy + at + first;
      const float* value = y + at + first;
      for (int i = 0; i < count; ++i) {
        mean[i] += static_cast<double>(gradient[i]);
        along[i] += static_cast<double>(gradient[i]) * static_cast<double>(value[i]);
      }
    }
    double scale[kBlock];
    for (int i = 0; i < count; ++i) {
      const double spread = spreads[first + i];
      const bool counts = spread > kLeastSpread;
      mean[i] /= rows;
      scale[i] = counts ? 1.0 / (spread + kSpreadEpsilon) : 0.0;
      along[i] = counts ? along[i] / rows / spread : 0.0;
    }
    for (int row = 0; row < rows; ++row) {
      const size_t at = static_cast<size_t>(row) * static_cast<size_t>(columns);
      const float* gradient = dy + at + first;
      const float* value = y + at + first;
      float* to = dx + at + first;
      for (int i = 0; i < count; ++i) {
        to[i] = static_cast<float>(scale[i] * (static_cast<double>(gradient[i]) - mean[i]) -
                                   along[i] * static_cast<double>(value[i]));
      }
    }
  }
}

void standardise(std::span<double> column) {
  if (column.empty()) return;
  const auto count = static_cast<double>(column.size());
  double mean = 0;
  for (const double value : column) mean += value;
  mean /= count;
  double square = 0;
  for (const double value : column) square += (value - mean) * (value - mean);
  const double spread = std::sqrt(square / count);
  for (double& value : column) value = (value - mean) / (spread + kSpreadEpsilon);
}

}  // namespace tutti
