#include "tutti/policy/nn/choice.h"

#include <algorithm>
#include <cmath>

namespace tutti {

bool are_numbers(const std::vector<float>& logits) {
  return std::all_of(logits.begin(), logits.end(),
                     [](float logit) { return std::isfinite(logit); });
}

size_t most_likely(const std::vector<float>& logits) {
  return static_cast<size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

size_t draw(const std::vector<float>& logits, Rng& rng) {
  const float most = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit - most));
  double rest = rng.uniform() * total;
  for (size_t i = 0; i + 1 < logits.size(); ++i) {
    rest -= std::exp(static_cast<double>(logits[i] - most));
    if (rest < 0) return i;
  }
  return logits.size() - 1;
}

void LogShare::add(float logit, bool right) {
  const double value = logit;
  if (value > most_) {
    const double scale = std::exp(most_ - value);
    total_ *= scale;
    right_ *= scale;
    most_ = value;
  }
  const double weight = std::exp(value - most_);
  total_ += weight;
  if (right) right_ += weight;
}

float LogShare::value() const {
  return static_cast<float>(std::log(right_ / total_));
}

}  // namespace tutti
