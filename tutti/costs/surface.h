// How long ops of one kind take on one kind of device, from points that were measured, between them
// and beyond them.
//
// A law of the kind's work comes first, fitted to the points in the sense of least relative errors
// with no part below 0:
//
//   overhead + flops / rate + (bytes read + bytes written) / bandwidth
//
// What the law misses, caches for instance, is a Gaussian process on the logarithm of time over the
// logarithms of flops, bytes read and bytes written (Rasmussen, Williams 2006): where a point was
// measured the estimate is that point, near it the neighbours say more than the law, far from all
// of them the law is left, and the spread grows with the distance. Points of another variant count
// less.
//
// Immutable once built.

#ifndef TUTTI_COSTS_SURFACE_H_
#define TUTTI_COSTS_SURFACE_H_

#include <array>
#include <string>
#include <vector>

#include "tutti/costs/work.h"

namespace tutti {

// One measured point. `spread` is the standard deviation of one run over its mean, `count` how many
// runs stand behind it.
struct MeasuredPoint {
  OpWork work;
  double time_ns = 0;
  double spread = 0;
  double count = 1;
};

// Factorising takes the cube of this.
inline constexpr size_t kMostPoints = 256;

// a + b * flops + c * (read_bytes + written_bytes), none below 0.
struct WorkLaw {
  double overhead_ns = 0;
  double ns_per_flop = 0;
  double ns_per_byte = 0;

  // Requires points, with times above 0.
  static WorkLaw fit(const std::vector<MeasuredPoint>& points);
  double time_ns(const OpWork& work) const {
    return overhead_ns + ns_per_flop * work.flops +
           ns_per_byte * (work.read_bytes + work.written_bytes);
  }
};

class Surface {
 public:
  // Requires 1 to kMostPoints points with times above 0.
  explicit Surface(std::vector<MeasuredPoint> points);

  struct Estimate {
    double time_ns = 0;
    double spread = 0;  // of one run: its own noise, and how unsure the mean is
  };
  Estimate at(const OpWork& work) const;
  const WorkLaw& law() const { return law_; }

 private:
  using Place = std::array<double, 3>;

  double covariance(const Place& a, const OpWork& x, const Place& b, const OpWork& y) const;
  // The law's time, never 0.
  double law_ns(const OpWork& work) const;
  void factorise();
  void solve_below(std::vector<double>& column) const;

  std::vector<MeasuredPoint> points_;
  WorkLaw law_;
  std::vector<Place> places_;
  Place centre_{};
  double amplitude_ = 0;
  std::vector<double> factor_;   // lower Cholesky factor of the covariance, row by row
  std::vector<double> weights_;  // covariance^-1 times what the law missed
};

}  // namespace tutti

#endif  // TUTTI_COSTS_SURFACE_H_
