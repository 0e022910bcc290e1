// A seeded family of layered graphs, for tests, benchmarks and first tries: layers of equal width,
// each op reading a few values of the layer before. It imitates no program in particular.

#ifndef TUTTI_GRAPH_MAKE_LAYERED_H_
#define TUTTI_GRAPH_MAKE_LAYERED_H_

#include <cstdint>

#include "tutti/base/result.h"
#include "tutti/graph/graph.h"
#include "tutti/graph/limits.h"

namespace tutti {

struct LayeredSpec {
  int32_t ops = 1000;
  int32_t width = 0;     // ops in a layer; 0: about the square root of `ops`, at most 1000
  int32_t operands = 3;  // of each op behind the first layer, or the whole layer if it is smaller
  int64_t bytes = int64_t{1} << 20;  // of each value, give or take a half
  double flops = 1e9;                // of each op, give or take a half
  uint64_t seed = 1;
  double most_made = kMostMade;  // ops and edges
};

// The same graph for the same spec, everywhere. No op reads a value twice. Ops of the first layer
// read nothing. Fails if a number is negative, not finite, or beyond what graph files may state,
// or if ops and edges would be more than `most_made`.
Result<Graph> make_layered(const LayeredSpec& spec);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_LAYERED_H_
