// The graph of overhead_bench, and the other engines that run it. Each is a function that runs the
// whole graph once; none if its library was not installed when this was built.

#ifndef TUTTI_BENCH_OVERHEAD_RIVALS_H_
#define TUTTI_BENCH_OVERHEAD_RIVALS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "tutti/base/random.h"

namespace tutti {

struct EmptyLayers {
  int layers = 1000;
  int width = 1000;

  int32_t ops() const { return layers * width; }
  // Two ops of the previous layer, the same for all engines; none in the first layer.
  std::vector<int32_t> predecessors(int32_t op) const {
    if (op < width) return {};
    Rng rng = Rng(7).split(static_cast<uint64_t>(op));
    const int32_t first = op / width * width - width;
    const auto one = static_cast<int32_t>(rng.below(static_cast<uint64_t>(width)));
    const auto step = 1 + static_cast<int32_t>(rng.below(static_cast<uint64_t>(width - 1)));
    return {first + one, first + (one + step) % width};
  }
};

// On two threads. A function of both must be destroyed before the program ends.
std::function<void()> open_flow_graph(const EmptyLayers& layers);
std::function<void()> open_starpu(const EmptyLayers& layers);

}  // namespace tutti

#endif  // TUTTI_BENCH_OVERHEAD_RIVALS_H_
