// Numbers for the inputs of experiments, kept between runs: drawing them anew would take longer
// than many of the runs. For one thread.

#ifndef TUTTI_CALIBRATE_INPUT_CACHE_H_
#define TUTTI_CALIBRATE_INPUT_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tutti/graph/graph.h"
#include "tutti/kernels/block.h"

namespace tutti {

class InputCache {
 public:
  // As fill_input of tutti/kernels/inputs.h. In a graph without edges, operands of one shape at the
  // same place of one kind get the same numbers.
  void fill(const Graph& graph, ValueId value, const Block& block);

 private:
  static constexpr size_t kMostBytes = size_t{1} << 30;

  std::string key_of(const Graph& graph, ValueId value);

  std::map<uint64_t, bool> has_edges_;  // by graph
  std::map<std::string, std::vector<std::byte>> kept_;
  size_t bytes_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_INPUT_CACHE_H_
