// What the tests of modules share: the same net with and without libtorch.

#ifndef TUTTI_STUDIES_DOPPLER_TORCH_MODULE_TESTING_H_
#define TUTTI_STUDIES_DOPPLER_TORCH_MODULE_TESTING_H_

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "test/support/world.h"
#include "tutti/train/doppler/learner.h"

namespace tutti {

// All weights and biases are random.
inline TensorFile perturbed(TensorFile file, double by) {
  Rng rng(11);
  for (auto& [name, tensor] : file.tensors) {
    for (float& value : tensor.data) value += static_cast<float>(by * rng.normal());
  }
  return file;
}

// The log-likelihoods that inference recorded are those that the learner finds.
inline void expect_same_likelihoods(const TensorFile& file, const NetFeatures& features,
                                    std::span<const Episode> episodes) {
  Lesson lesson{.features = &features};
  for (const Episode& episode : episodes) {
    lesson.episodes.push_back(&episode);
    lesson.weights.push_back(1);
  }
  const auto learner = must(make_learner(file, "test", 1));
  const std::vector<float> torch = learner->log_likelihoods(lesson);
  size_t at = 0;
  double most = 0;
  for (const Episode& episode : episodes) {
    ASSERT_EQ(episode.likelihood.size(), 2 * episode.op.size());
    for (const float ours : episode.likelihood) {
      EXPECT_NEAR(ours, torch[at], 1e-5 * std::max(1.0F, std::abs(ours)));
      most = std::max(most, std::abs(static_cast<double>(ours)));
      ++at;
    }
  }
  EXPECT_EQ(at, torch.size());
  EXPECT_GT(most, 0.1);
}

inline double sum_of_likelihoods(Learner& learner, const Lesson& lesson) {
  double sum = 0;
  for (const float likelihood : learner.log_likelihoods(lesson)) sum += likelihood;
  return sum;
}

// The learner's gradient by one tensor, from its first moment after one step, which is a tenth of
// it. Moving the tensor along it by `way` times `step` changes the mean log-likelihood.
class GradientOf {
 public:
  GradientOf(StoredTensor& tensor, const StoredTensor& moment)
      : tensor_(tensor), before_(tensor), moment_(moment) {
    double square = 0;
    for (const float value : moment.data) square += 100.0 * static_cast<double>(value * value);
    length_ = std::sqrt(square);
  }
  ~GradientOf() { tensor_ = before_; }
  GradientOf(const GradientOf&) = delete;
  GradientOf& operator=(const GradientOf&) = delete;

  double length() const { return length_; }
  void move(double way, double step) {
    for (size_t i = 0; i < tensor_.data.size(); ++i) {
      tensor_.data[i] =
          before_.data[i] - static_cast<float>(way * step * 10.0 / length_) * moment_.data[i];
    }
  }

 private:
  StoredTensor& tensor_;
  const StoredTensor before_;
  const StoredTensor& moment_;
  double length_ = 0;
};

inline void expect_same_bytes_with_any_threads(const TensorFile& file,
                                               std::span<const Lesson> lessons, int steps,
                                               const StepOptions& options) {
  std::string first;
  for (const int threads : {1, 2, 3}) {
    const auto learner = must(make_learner(file, "test", threads));
    for (int i = 0; i < steps; ++i) learner->step(lessons, options);
    const std::string bytes = tensors_to_bytes(learner->checkpoint());
    if (first.empty()) first = bytes;
    EXPECT_TRUE(first == bytes) << threads << " threads";
  }
}

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_TORCH_MODULE_TESTING_H_
