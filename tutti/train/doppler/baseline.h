// Baselines: the advantage of an episode's makespan over others. Positive is better; episodes
// without a plan (kNoPlan) get 0.

#ifndef TUTTI_TRAIN_DOPPLER_BASELINE_H_
#define TUTTI_TRAIN_DOPPLER_BASELINE_H_

#include <string>
#include <vector>

#include "tutti/base/file/tensor_file.h"

namespace tutti {

// Makespans of the past episodes of a problem in a stage.
struct Past {
  double sum = 0;
  double count = 0;

  void add(const std::vector<double>& costs);
};

// Compared with the other episodes of its problem, in standard deviations.
std::vector<float> against_group(const std::vector<double>& costs);

// Compared with the mean of all episodes up to and including it, as a share of the reference.
std::vector<float> against_past(Past past, const std::vector<double>& costs, double reference);

// Stores it in the metadata of a checkpoint.
void keep_past(const std::string& name, const Past& past, TensorFile& file);
// Empty if the file does not have it. Fails (invalid_input) if sum and count contradict each other.
Result<Past> kept_past(const std::string& name, const TensorFile& file, const std::string& path);

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_BASELINE_H_
