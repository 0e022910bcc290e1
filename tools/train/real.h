// tutti train doppler --stage real: learning on the machine itself.

#ifndef TUTTI_TOOLS_TRAIN_REAL_H_
#define TUTTI_TOOLS_TRAIN_REAL_H_

#include <string>
#include <vector>

#include "tools/inputs.h"
#include "tutti/base/file/tensor_file.h"
#include "tutti/base/stop.h"

namespace tutti {

struct RealTraining {
  std::vector<std::string> graphs;
  ProblemInputs inputs;
  std::string folder;
  std::string calibration;  // a state of tutti calibrate; empty: nothing is known
  std::vector<std::string> plans;
  int64_t runs = 500;
  double margin = 0.1;
  // The control: plans come from a search alone, nothing is learned but what things take.
  bool search_alone = false;
  uint64_t seed = 1;
  int threads = 1;
  Stop stop{};
};

// `start` is the model to begin with.
Result<void> train_for_real(const RealTraining& training, const TensorFile& start,
                            const std::string& path);

}  // namespace tutti

#endif  // TUTTI_TOOLS_TRAIN_REAL_H_
