#include "tutti/costs/surface.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// Distances are in octaves: each of flops, bytes read and bytes written counts its factors of two.
constexpr double kLength = 4;             // over which what the law misses stays about the same
constexpr double kLeastAmplitude = 0.15;  // of what the law misses, in the logarithm of time
constexpr double kMostAmplitude = 2;
constexpr double kSlope = 0.03;        // per octave, at any distance: what was not measured
constexpr double kOwn = 0.12;          // what one shape has for itself: tiles that fit, alignment
constexpr double kOtherVariant = 0.5;  // share of what is missed that variants have in common

using Row = std::array<double, 3>;

// What each part of the law adds to a point's time, relative to that time.
Row relative_parts(const MeasuredPoint& point) {
  return {1 / point.time_ns, point.work.flops / point.time_ns,
          (point.work.read_bytes + point.work.written_bytes) / point.time_ns};
}

// The least squares of rows times parts against 1, with only the parts of the mask. Columns are
// scaled to be of the same size first. None if it is singular or a part comes out below 0.
bool solve(const std::vector<Row>& rows, unsigned mask, Row& parts, double& error) {
  std::vector<int> columns;
  for (int c = 0; c < 3; ++c) {
    if ((mask >> c & 1U) != 0) columns.push_back(c);
  }
  Row scale{};
  for (const int c : columns) {
    for (const Row& row : rows) scale[c] = std::max(scale[c], row[c]);
    if (!(scale[c] > 0)) return false;
  }
  const size_t n = columns.size();
  std::array<std::array<double, 4>, 3> system{};
  for (size_t i = 0; i < n; ++i) {
    for (const Row& row : rows) {
      const double left = row[columns[i]] / scale[columns[i]];
      for (size_t j = 0; j < n; ++j) system[i][j] += left * row[columns[j]] / scale[columns[j]];
      system[i][n] += left;
    }
  }
  for (size_t i = 0; i < n; ++i) {
    if (system[i][i] < 1e-12) return false;
    for (size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = system[k][i] / system[i][i];
      for (size_t j = i; j <= n; ++j) system[k][j] -= factor * system[i][j];
    }
  }
  parts = {};
  for (size_t i = 0; i < n; ++i) {
    parts[columns[i]] = system[i][n] / system[i][i] / scale[columns[i]];
    if (!(parts[columns[i]] >= 0)) return false;
  }
  error = 0;
  for (const Row& row : rows) {
    double sum = -1;
    for (const int c : columns) sum += row[c] * parts[c];
    error += sum * sum;
  }
  return true;
}

double octaves(double size) {
  return std::log2(1 + size);
}

double square(double x) {
  return x * x;
}

}  // namespace

WorkLaw WorkLaw::fit(const std::vector<MeasuredPoint>& points) {
  TUTTI_CHECK(!points.empty());
  std::vector<Row> rows;
  rows.reserve(points.size());
  for (const MeasuredPoint& point : points) rows.push_back(relative_parts(point));
  // With so few parts every choice of them can be tried; the simplest first, so that it wins where
  // another is no better. A single point is put down to flops, else to bytes, else to overhead.
  Row best{};
  double least = std::numeric_limits<double>::infinity();
  for (const unsigned mask : {2U, 4U, 1U, 3U, 5U, 6U, 7U}) {
    Row parts;
    double error = 0;
    if (!solve(rows, mask, parts, error) || error >= least - 1e-9) continue;
    least = error;
    best = parts;
  }
  return {.overhead_ns = best[0], .ns_per_flop = best[1], .ns_per_byte = best[2]};
}

Surface::Surface(std::vector<MeasuredPoint> points)
    : points_(std::move(points)), law_(WorkLaw::fit(points_)) {
  TUTTI_CHECK(points_.size() <= kMostPoints);
  for (const MeasuredPoint& point : points_) {
    const OpWork& work = point.work;
    places_.push_back({octaves(work.flops), octaves(work.read_bytes), octaves(work.written_bytes)});
    for (size_t i = 0; i < 3; ++i) {
      centre_[i] += places_.back()[i] / static_cast<double>(points_.size());
    }
  }
  factorise();
}

double Surface::law_ns(const OpWork& work) const {
  return std::max(law_.time_ns(work), 1.0);
}

double Surface::covariance(const Place& a, const OpWork& x, const Place& b, const OpWork& y) const {
  double distance = 0;
  double along = 0;
  for (size_t i = 0; i < 3; ++i) {
    distance += square(a[i] - b[i]);
    along += (a[i] - centre_[i]) * (b[i] - centre_[i]);
  }
  const double alike = x.variant == y.variant ? 1 : kOtherVariant;
  double sum = square(amplitude_) * alike * std::exp(-distance / (2 * square(kLength))) +
               square(kSlope) * along;
  if (x == y) sum += square(kOwn);
  return sum;
}

void Surface::factorise() {
  const size_t n = points_.size();
  std::vector<double> missed(n);
  double squares = 0;
  for (size_t i = 0; i < n; ++i) {
    missed[i] = std::log(points_[i].time_ns / law_ns(points_[i].work));
    squares += square(missed[i]);
  }
  amplitude_ =
      std::clamp(std::sqrt(squares / static_cast<double>(n)), kLeastAmplitude, kMostAmplitude);
  factor_.assign(n * n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = covariance(places_[i], points_[i].work, places_[j], points_[j].work);
      // Two rows of a file about the same work are two measurements of it.
      if (i == j) sum += square(points_[i].spread) / points_[i].count + 1e-6;
      for (size_t k = 0; k < j; ++k) sum -= factor_[i * n + k] * factor_[j * n + k];
      factor_[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-9)) : sum / factor_[j * n + j];
    }
  }
  weights_ = std::move(missed);
  solve_below(weights_);
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) weights_[i] -= factor_[k * n + i] * weights_[k];
    weights_[i] /= factor_[i * n + i];
  }
}

void Surface::solve_below(std::vector<double>& column) const {
  const size_t n = points_.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) column[i] -= factor_[i * n + k] * column[k];
    column[i] /= factor_[i * n + i];
  }
}

Surface::Estimate Surface::at(const OpWork& work) const {
  const Place place = {octaves(work.flops), octaves(work.read_bytes), octaves(work.written_bytes)};
  const size_t n = points_.size();
  std::vector<double> column(n);
  double mean = 0;
  double noise = 0;
  double mass = 0;
  for (size_t i = 0; i < n; ++i) {
    column[i] = covariance(place, work, places_[i], points_[i].work);
    mean += column[i] * weights_[i];
    double distance = 0;
    for (size_t k = 0; k < 3; ++k) distance += square(place[k] - places_[i][k]);
    const double near = 1 / (0.01 + distance);
    mass += near;
    noise += near * points_[i].spread;
  }
  double variance = covariance(place, work, place, work);
  solve_below(column);
  for (const double x : column) variance -= x * x;
  // Beyond a factor of e^6 either way the law is right and the process is not.
  return {.time_ns = law_ns(work) * std::exp(std::clamp(mean, -6.0, 6.0)),
          .spread = std::sqrt(square(noise / mass) + std::max(variance, 0.0))};
}

}  // namespace tutti
