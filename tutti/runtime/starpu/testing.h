// For tests of the StarPU engine, in this process alone.

#ifndef TUTTI_RUNTIME_STARPU_TESTING_H_
#define TUTTI_RUNTIME_STARPU_TESTING_H_

#include <memory>
#include <utility>

#include "tutti/runtime/local/testing.h"
#include "tutti/runtime/starpu/starpu.h"

namespace tutti::testing {

struct AloneOnStarpu {
  std::unique_ptr<StarpuRanks> ranks = StarpuRanks::alone();
  std::unique_ptr<StarpuRuntime> runtime;

  AloneOnStarpu(const Machine& machine, OpTable table)
      : runtime(must(StarpuRuntime::open(machine, std::move(table), *ranks))) {}
};

}  // namespace tutti::testing

#endif  // TUTTI_RUNTIME_STARPU_TESTING_H_
