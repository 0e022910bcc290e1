// exp for loops: no branch and no call, so that the compiler makes vector instructions of it, and
// the same bytes whether an element falls into a vector or into the rest after the last one.

#ifndef TUTTI_KERNELS_CPU_EXP_H_
#define TUTTI_KERNELS_CPU_EXP_H_

#include <bit>
#include <cstdint>
#include <limits>

namespace tutti::cpu {

// exp(x) to 2 units in the last place, by test; 0 where that would be subnormal (below -87.3).
//
// x = n ln 2 + r with |r| <= ln 2 / 2; then 2^n is put together from its bits and exp(r) is its
// Taylor polynomial: the first term left out, r^8 / 8!, is below 6e-9, a tenth of a unit in the
// last place.
inline float exp_of(float x) {
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0.693359375F;  // few enough bits that n times it is exact
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr float kShift = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const float shifted = x * kLog2E + kShift;
  const float n = shifted - kShift;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float sum = 1.0F / 5040;
  sum = sum * r + 1.0F / 720;
  sum = sum * r + 1.0F / 120;
  sum = sum * r + 1.0F / 24;
  sum = sum * r + 1.0F / 6;
  sum = sum * r + 0.5F;
  sum = sum * (r * r) + r + 1.0F;
  // The low bits of `shifted` are n. 2^n in two factors: n may be 128, which no exponent holds.
  // Unsigned, because x may be anything and unsigned numbers wrap.
  const auto whole =
      static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kShift));
  const int32_t half = whole >> 1;
  const auto power = [](int32_t exponent) {
    return std::bit_cast<float>((static_cast<uint32_t>(exponent) + 127U) << 23);
  };
  const auto rest =
      static_cast<int32_t>(static_cast<uint32_t>(whole) - static_cast<uint32_t>(half));
  const float value = sum * power(half) * power(rest);
  const float bounded = x > 88.72283F ? std::numeric_limits<float>::infinity() : value;
  return x < -87.33654F ? 0.0F : bounded;
}

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_EXP_H_
