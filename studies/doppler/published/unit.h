// The gated recurrent unit of the encoder (Cho et al. 2014), row by row, and its gradient.

#ifndef TUTTI_STUDIES_DOPPLER_PUBLISHED_UNIT_H_
#define TUTTI_STUDIES_DOPPLER_PUBLISHED_UNIT_H_

#include <cstddef>

namespace tutti {

// What a row of the unit comes to, `width` numbers each.
struct UnitRow {
  float* reset;
  float* update;
  float* fresh;
  float* next;
};
// `in` and `own` are 3 x width: reset, update and new state, from what was heard and from the
// state.
void apply_unit(const float* in, const float* own, const float* state, size_t width,
                const UnitRow& row);

// From the gradient `by` the row's next state to those by its inputs; by_own and by_state are added
// to, since rows share them.
struct UnitGradient {
  float* by_in;
  float* by_own;
  float* by_state;
};
void unit_backward(const float* by, const float* own, const float* state, size_t width,
                   const float* reset, const float* update, const float* fresh,
                   const UnitGradient& gradient);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_PUBLISHED_UNIT_H_
