// Numbers for the inputs of experiments, kept between runs: drawing them anew would take longer
// than many of the runs. For one thread.

#ifndef TUTTI_CALIBRATE_INPUT_CACHE_H_
#define TUTTI_CALIBRATE_INPUT_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tutti/calibrate/experiment.h"
#include "tutti/kernels/block.h"

namespace tutti {

class InputCache {
 public:
  // As fill_input of tutti/kernels/inputs.h; copies of one op get the numbers of the first.
  void fill(const Experiment& experiment, ValueId value, const Block& block);

 private:
  static constexpr size_t kMostBytes = size_t{1} << 30;

  std::map<std::pair<uint64_t, int32_t>, std::vector<std::byte>> kept_;  // by graph and value
  size_t bytes_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_INPUT_CACHE_H_
