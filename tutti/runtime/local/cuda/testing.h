// For tests: what they need of a GPU, and machines made of it.

#ifndef TUTTI_RUNTIME_LOCAL_CUDA_TESTING_H_
#define TUTTI_RUNTIME_LOCAL_CUDA_TESTING_H_

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tutti/kernels/cuda/error.h"
#include "tutti/machine/machine.h"

namespace tutti {

// Of the first GPU; 0 where there is none.
inline int multiprocessors_here() {
  int count = 0;
  if (!cuda::check_gpus() ||
      cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0) != cudaSuccess) {
    return 0;
  }
  return count;
}

#define TUTTI_NEEDS_MULTIPROCESSORS(count)                                                  \
  if (const auto found = cuda::check_gpus(); !found) GTEST_SKIP() << found.error().message; \
  if (multiprocessors_here() < (count)) GTEST_SKIP() << "the GPU has fewer than " << (count)

// Partitions of the first GPU, or whole GPUs where a count is 0, each with a link to the host.
inline Result<Machine> partitioned_machine(const std::vector<int>& counts, int slots = 1,
                                           int64_t memory_bytes = kUnlimitedBytes,
                                           MachineSpec spec = {}) {
  for (size_t i = 0; i < counts.size(); ++i) {
    const std::string name = fmt::format("gpu{}", i);
    spec.devices.push_back({.device = {.name = name,
                                       .kind = fmt::format("gpu-{}", counts[i]),
                                       .slots = slots,
                                       .units = counts[i],
                                       .flops_per_s = 4e11 * counts[i]},
                            .memory_bytes = memory_bytes});
    spec.links.push_back({.name = name + "-pcie", .ends = {name, "host"}, .bytes_per_s = 55e9});
  }
  return Machine::build(std::move(spec));
}

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_CUDA_TESTING_H_
