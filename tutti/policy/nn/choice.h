// Choosing from a few options by their logits, and how likely a choice was.

#ifndef TUTTI_POLICY_NN_CHOICE_H_
#define TUTTI_POLICY_NN_CHOICE_H_

#include <cstddef>
#include <limits>
#include <vector>

#include "tutti/base/random.h"

namespace tutti {

// Stands for a logit of minus infinity; finite, so that differences are not NaN.
inline constexpr float kNoOdds = -1e9F;

// Finite weights may give logits that are NaN or infinite.
bool are_numbers(const std::vector<float>& logits);

// The first of the largest.
size_t most_likely(const std::vector<float>& logits);

// Which of the weights e^logit a draw hits.
size_t draw(const std::vector<float>& logits, Rng& rng);

// log of the share that the right ones have of the sum of e^logit.
class LogShare {
 public:
  void add(float logit, bool right);
  float value() const;

 private:
  double most_ = -std::numeric_limits<double>::infinity();
  double total_ = 0;
  double right_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_NN_CHOICE_H_
