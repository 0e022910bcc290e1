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

// Expects that every value that nobody reads is what it should be.
inline void expect_digests(const Graph& graph, const StarpuRuntime& runtime) {
  const std::vector<uint8_t> wanted = digests(graph);
  for (const ValueId value : graph.values()) {
    if (!graph.producer(value).valid() || !graph.consumers(value).empty()) continue;
    const Result<std::vector<std::byte>> got = runtime.result(value);
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(got->size(), static_cast<size_t>(graph.bytes(value)));
    for (const std::byte byte : *got) {
      ASSERT_EQ(static_cast<uint8_t>(byte), wanted[static_cast<size_t>(value.index)])
          << graph.value_name(value);
    }
  }
}

}  // namespace tutti::testing

#endif  // TUTTI_RUNTIME_STARPU_TESTING_H_
