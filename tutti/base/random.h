// Seeded, splittable random numbers. An Rng is a value passed in, never a global.
//
// split(key) gives an independent stream for one op, thread or episode: the numbers drawn for op 7
// are the same whatever happens to op 6. All draws are our own arithmetic, so that the same seed
// gives the same numbers with every standard library.

#ifndef TUTTI_BASE_RANDOM_H_
#define TUTTI_BASE_RANDOM_H_

#include <cmath>
#include <cstdint>

namespace tutti {

// The finaliser of SplitMix64 (Steele, Lea, Flood; OOPSLA 2014): a bijection that mixes all bits.
constexpr uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class Rng {
 public:
  explicit constexpr Rng(uint64_t seed) : state_(mix64(seed + kStep)) {}

  constexpr Rng split(uint64_t key) const { return Rng(state_ ^ mix64(key * kStep + 1)); }

  constexpr uint64_t next() {
    state_ += kStep;
    return mix64(state_);
  }

  // Uniform in [0, bound); requires bound > 0. Multiply-shift: bias below 2^-32 for small bounds.
  constexpr uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

  // Uniform in [0, 1).
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // Standard normal, by Box and Muller. None is larger than kMostNormal or smaller than its
  // negative: 1 - uniform() is at least 2^-53, and sqrt(2 * 53 * ln 2) is 8.572.
  static constexpr double kMostNormal = 8.58;
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

  // Exponential, of mean 1.
  double exponential() { return -std::log(1.0 - uniform()); }

  // Student's t with `freedom` degrees of freedom, by Bailey's polar method (1994).
  double student_t(double freedom) {
    for (;;) {
      const double u = 2.0 * uniform() - 1.0;
      const double v = 2.0 * uniform() - 1.0;
      const double w = u * u + v * v;
      if (w > 1.0 || w == 0.0) continue;
      return u * std::sqrt(freedom * (std::pow(w, -2.0 / freedom) - 1.0) / w);
    }
  }

 private:
  __extension__ typedef unsigned __int128 Wide;  // not ISO C++, but in both our compilers

  static constexpr uint64_t kStep = 0x9e3779b97f4a7c15ULL;
  uint64_t state_;
};

}  // namespace tutti

#endif  // TUTTI_BASE_RANDOM_H_
