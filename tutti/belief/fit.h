// Learning the constants of a belief: Adam's steps, and a fit to what was observed.

#ifndef TUTTI_BELIEF_FIT_H_
#define TUTTI_BELIEF_FIT_H_

#include <span>
#include <vector>

#include "tutti/belief/belief.h"

namespace tutti {

// Adam (Kingma and Ba 2015), downhill.
class Adam {
 public:
  Adam(size_t count, double rate) : rate_(rate), mean_(count, 0.0), square_(count, 0.0) {}
  // A slope of 0 in every step so far leaves its value where it is.
  void step(std::span<const double> slopes, std::vector<double>& values);

 private:
  double rate_;
  int steps_ = 0;
  std::vector<double> mean_;
  std::vector<double> square_;
};

struct FitOptions {
  int passes = 30;  // over all observations
  int batch = 8;    // observations between two steps
  double rate = 0.03;
  SampleOptions sampling{};
};

// Maximises the likelihood of the observed waiting, starting from `constants` (raw). Needs no
// ground truth: if transfers waited more or less than a capacity explains, the capacity changes.
std::vector<double> fit_constants(const Belief& belief, std::vector<double> constants,
                                  std::span<const Observation> observations,
                                  const FitOptions& options = {});

}  // namespace tutti

#endif  // TUTTI_BELIEF_FIT_H_
