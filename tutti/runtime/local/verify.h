// Whether a run came to the right numbers: what it left is compared with the float64 reference on
// the same inputs.

#ifndef TUTTI_RUNTIME_LOCAL_VERIFY_H_
#define TUTTI_RUNTIME_LOCAL_VERIFY_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/graph/graph.h"
#include "tutti/kernels/tensor.h"

namespace tutti {

struct Verified {
  int64_t values = 0;  // compared
  // The largest difference in a value over the largest number in it.
  double worst = 0;
  std::string worst_value{};
  double allowed = 0;  // as far as that value's dtype is precise
  bool good = true;    // every value is within what its dtype allows
};

// Evaluates the graph on the inputs of fill_input with that seed and compares the values that
// no op reads; `result` gives their bytes. Takes as long as the reference does, which is slow.
// Fails (invalid_input) if an op has no reference, or a value no shape; fails if it was stopped.
Result<Verified> verify(const Graph& graph, uint64_t seed,
                        const std::function<Result<std::vector<std::byte>>(ValueId value)>& result,
                        const Stop& stop = {});

// The two halves of that, for callers with several runs of one graph: the content of each value,
// and the comparison with it.
Result<std::vector<Tensor>> reference_values(const Graph& graph, uint64_t seed,
                                             const Stop& stop = {});
Result<Verified> verify_against(
    const Graph& graph, const std::vector<Tensor>& reference,
    const std::function<Result<std::vector<std::byte>>(ValueId value)>& result);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_VERIFY_H_
