// A step of Adam (Kingma and Ba 2015) on plain arrays. Its own source, because it is compiled so
// that square roots need not set errno, without which they do not become vectors.

#ifndef TUTTI_TRAIN_TORCH_ADAM_H_
#define TUTTI_TRAIN_TORCH_ADAM_H_

#include <cstdint>

namespace tutti {

inline constexpr double kAdamFirstDecay = 0.9;
inline constexpr double kAdamSecondDecay = 0.999;

// Some of the numbers of a tensor, before a step of Adam and after it, which may be the same.
struct AdamRange {
  const float* gradient = nullptr;
  const float* first = nullptr;
  const float* second = nullptr;
  const float* parameter = nullptr;
  float* next_first = nullptr;
  float* next_second = nullptr;
  float* next_parameter = nullptr;
  int64_t count = 0;
};

// One step of Adam.
struct AdamStep {
  double scale;  // of the gradient
  double learning_rate;
  double first_share;
  double second_share;
};

// In one pass over memory. False if a parameter is not finite afterwards.
bool apply_adam(const AdamStep& step, const AdamRange& range);

}  // namespace tutti

#endif  // TUTTI_TRAIN_TORCH_ADAM_H_
