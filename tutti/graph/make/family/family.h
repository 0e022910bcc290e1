// Seeded families of graphs with the shape of well-known parallel programs, one file each. They
// have no kernels and compute nothing; flops and bytes are drawn (skeleton.h).
//
// All make the same graph for the same spec, everywhere, and fail with one sentence if a number is
// out of range or the graph would be too large.

#ifndef TUTTI_GRAPH_MAKE_FAMILY_FAMILY_H_
#define TUTTI_GRAPH_MAKE_FAMILY_FAMILY_H_

#include "tutti/graph/make/family/skeleton.h"

namespace tutti {

// `stages` times: one op, `width` ops that read it, one that reads them all.
struct ForkJoinSpec {
  int64_t stages = 4;
  int64_t width = 16;
  Weights weights{};
};
Result<Graph> make_fork_join(const ForkJoinSpec& spec);

// A full tree of `levels` levels. Inwards: leaves first, each op reads `arity` of the level before.
// Outwards: the root first, each op is read by `arity`.
struct TreeSpec {
  enum class Direction { in, out };
  int64_t levels = 7;
  int64_t arity = 2;
  Direction direction = Direction::in;
  Weights weights{};
};
Result<Graph> make_tree(const TreeSpec& spec);

// `steps` rows of `width` cells; each reads the cells of the row before that are at most `radius`
// away, itself among them.
struct StencilSpec {
  int64_t width = 16;
  int64_t steps = 16;
  int64_t radius = 1;
  Weights weights{};
};
Result<Graph> make_stencil(const StencilSpec& spec);

// The butterflies of a fast Fourier transform of `points` blocks, a power of two: after a first
// row, op i of level l reads ops i and i xor 2^l of the level before.
struct FftSpec {
  int64_t points = 16;
  Weights weights{};
};
Result<Graph> make_fft(const FftSpec& spec);

// `phases` rows of `width` ops; each reads the whole row before.
struct AllToAllSpec {
  int64_t width = 8;
  int64_t phases = 4;
  Weights weights{};
};
Result<Graph> make_all_to_all(const AllToAllSpec& spec);

// `ops` ops in a random order; each reads `degree` earlier ones on average, drawn from the `window`
// ops before it (0: from all). Only the first op reads nothing.
struct RandomSpec {
  int64_t ops = 200;
  double degree = 3;
  int64_t window = 0;
  Weights weights{.ccr = 1};
};
Result<Graph> make_random(const RandomSpec& spec);

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_FAMILY_FAMILY_H_
