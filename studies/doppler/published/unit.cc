#include "studies/doppler/published/unit.h"

#include <bit>
#include <cstdint>

#include "tutti/policy/nn/processors.h"

namespace tutti {
namespace {

// e^x to within a few units of the last place, without branches, so that loops become vectors.
[[gnu::always_inline]] inline float quick_exp(float x) {
  constexpr float kRound = 12582912.0F;  // 1.5 x 2^23: adding it leaves a whole number behind
  x = x > 87.0F ? 87.0F : x;             // by value: references would be branches
  x = x < -87.0F ? -87.0F : x;
  const float shifted = x * 1.44269504F + kRound;
  const float whole = shifted - kRound;
  const float rest = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;
  float value = 1.9875691500e-4F;
  value = value * rest + 1.3981999507e-3F;
  value = value * rest + 8.3334519073e-3F;
  value = value * rest + 4.1665795894e-2F;
  value = value * rest + 1.6666665459e-1F;
  value = value * rest + 5.0000001201e-1F;
  value = value * rest * rest + rest + 1.0F;
  const int32_t power = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  return value * std::bit_cast<float>((power + 127) << 23);
}

}  // namespace

// Loops over one array each: those become vectors.

TUTTI_FOR_EVERY_PROCESSOR
void sigmoid_of_sum(const float* __restrict a, const float* __restrict b, size_t count,
                    float* __restrict to) {
  for (size_t k = 0; k < count; ++k) to[k] = 1.0F / (1.0F + quick_exp(-(a[k] + b[k])));
}

// tanh(a + scale b), as twice a sigmoid less 1.
TUTTI_FOR_EVERY_PROCESSOR
void tanh_of_sum(const float* __restrict a, const float* __restrict scale,
                 const float* __restrict b, size_t count, float* __restrict to) {
  for (size_t k = 0; k < count; ++k) {
    to[k] = 2.0F / (1.0F + quick_exp(-2.0F * (a[k] + scale[k] * b[k]))) - 1.0F;
  }
}

TUTTI_FOR_EVERY_PROCESSOR
void blend(const float* __restrict share, const float* __restrict a, const float* __restrict b,
           size_t count, float* __restrict to) {
  for (size_t k = 0; k < count; ++k) to[k] = (1.0F - share[k]) * a[k] + share[k] * b[k];
}

void apply_unit(const float* in, const float* own, const float* state, size_t width,
                const UnitRow& row) {
  sigmoid_of_sum(in, own, width, row.reset);
  sigmoid_of_sum(in + width, own + width, width, row.update);
  tanh_of_sum(in + 2 * width, row.reset, own + 2 * width, width, row.fresh);
  blend(row.update, row.fresh, state, width, row.next);
}

TUTTI_FOR_EVERY_PROCESSOR
void unit_gradient(const float* __restrict by, const float* __restrict own_fresh,
                   const float* __restrict state, const float* __restrict reset,
                   const float* __restrict update, const float* __restrict fresh, size_t width,
                   float* __restrict by_in, float* __restrict by_own, float* __restrict by_state) {
  for (size_t k = 0; k < width; ++k) {
    const float by_fresh = by[k] * (1.0F - update[k]) * (1.0F - fresh[k] * fresh[k]);
    const float by_update = by[k] * (state[k] - fresh[k]) * update[k] * (1.0F - update[k]);
    const float by_reset = by_fresh * own_fresh[k] * reset[k] * (1.0F - reset[k]);
    by_in[k] = by_reset;
    by_in[width + k] = by_update;
    by_in[2 * width + k] = by_fresh;
    by_own[k] += by_reset;
    by_own[width + k] += by_update;
    by_own[2 * width + k] += by_fresh * reset[k];
    by_state[k] += by[k] * update[k];
  }
}

void unit_backward(const float* by, const float* own, const float* state, size_t width,
                   const float* reset, const float* update, const float* fresh,
                   const UnitGradient& gradient) {
  unit_gradient(by, own + 2 * width, state, reset, update, fresh, width, gradient.by_in,
                gradient.by_own, gradient.by_state);
}

}  // namespace tutti
