// tutti graph make layered, fork-join, tree, stencil, fft, all-to-all, random: seeded families.

#include <fmt/format.h>

#include "tools/graph_make.h"
#include "tutti/graph/make/family/family.h"
#include "tutti/graph/make/layered.h"

namespace tutti {
namespace {

template <class Spec>
void add_seed(Maker<Spec>& maker, uint64_t& seed) {
  maker.flag("--seed", seed, "Seed")->check(whole_number());
}

template <class Spec>
void add_weights(Maker<Spec>& maker) {
  Weights& weights = maker.spec->weights;
  maker.flag("--flops", weights.flops, "Flops of each op, give or take --spread");
  maker.flag("--bytes", weights.bytes, "Bytes of each value, give or take --spread");
  maker.flag("--spread", weights.spread, "Uniform spread, as a share of the mean");
  maker.flag("--ccr", weights.ccr,
             "Scale bytes to this ratio: (mean bytes of an edge / --bandwidth) over (mean flops of "
             "an op / --rate); 0: leave them");
  maker.flag("--bandwidth", weights.bandwidth, "Bytes per second, for --ccr");
  maker.flag("--rate", weights.rate, "Flops per second, for --ccr");
  add_seed(maker, weights.seed);
}

void add_layered(CLI::App& make, const MakeGraphs& how) {
  Maker<LayeredSpec> maker(make, "layered",
                           "Layers of ops, each reading a few values of the layer before",
                           "--ops 100000 --seed 7");
  maker.flag("--ops", maker.spec->ops, "Number of ops");
  maker.flag("--width", maker.spec->width, "Ops in a layer; 0: about the square root of --ops");
  maker.flag("--operands", maker.spec->operands, "Operands of each op");
  maker.flag("--bytes", maker.spec->bytes, "Bytes of each value, give or take a half");
  maker.flag("--flops", maker.spec->flops, "Flops of each op, give or take a half");
  add_seed(maker, maker.spec->seed);
  maker.run(make_layered, how);
}

void add_fork_join(CLI::App& make, const MakeGraphs& how) {
  Maker<ForkJoinSpec> maker(make, "fork-join", "One op, many that read it, one that reads them all",
                            "--stages 4 --width 16 --seed 7");
  maker.flag("--stages", maker.spec->stages, "How often it forks and joins");
  maker.flag("--width", maker.spec->width, "Ops between fork and join");
  add_weights(maker);
  maker.run(make_fork_join, how);
}

struct TreeFlags : TreeSpec {
  std::string direction_text = "in";
};

Result<Graph> run_tree(TreeFlags flags) {
  if (flags.direction_text != "in" && flags.direction_text != "out") {
    return invalid_input(fmt::format("--direction is '{}', not in or out", flags.direction_text));
  }
  if (flags.direction_text == "out") flags.direction = TreeSpec::Direction::out;
  return make_tree(flags);
}

void add_tree(CLI::App& make, const MakeGraphs& how) {
  Maker<TreeFlags> maker(make, "tree", "A full tree, towards the root or away from it",
                         "--levels 7 --direction out --seed 7");
  maker.flag("--levels", maker.spec->levels, "Levels, root and leaves included");
  maker.flag("--arity", maker.spec->arity, "Branches of each op");
  maker.flag("--direction", maker.spec->direction_text, "in: leaves first; out: the root first");
  add_weights(maker);
  maker.run(run_tree, how);
}

void add_stencil(CLI::App& make, const MakeGraphs& how) {
  Maker<StencilSpec> maker(make, "stencil", "Rows of cells that read their neighbours",
                           "--width 16 --steps 32 --seed 7");
  maker.flag("--width", maker.spec->width, "Cells in a row");
  maker.flag("--steps", maker.spec->steps, "Rows");
  maker.flag("--radius", maker.spec->radius, "How far neighbours are");
  add_weights(maker);
  maker.run(make_stencil, how);
}

void add_fft(CLI::App& make, const MakeGraphs& how) {
  Maker<FftSpec> maker(make, "fft", "The butterflies of a fast Fourier transform",
                       "--points 32 --seed 7");
  maker.flag("--points", maker.spec->points, "Blocks of points, a power of two");
  add_weights(maker);
  maker.run(make_fft, how);
}

void add_all_to_all(CLI::App& make, const MakeGraphs& how) {
  Maker<AllToAllSpec> maker(make, "all-to-all", "Phases in which every op reads the phase before",
                            "--width 8 --phases 4 --seed 7");
  maker.flag("--width", maker.spec->width, "Ops in a phase");
  maker.flag("--phases", maker.spec->phases, "Phases");
  add_weights(maker);
  maker.run(make_all_to_all, how);
}

void add_random(CLI::App& make, const MakeGraphs& how) {
  Maker<RandomSpec> maker(make, "random", "Ops that read random earlier ones",
                          "--ops 500 --ccr 2 --seed 7");
  maker.flag("--ops", maker.spec->ops, "Number of ops");
  maker.flag("--degree", maker.spec->degree, "Operands of an op, on average");
  maker.flag("--window", maker.spec->window, "How far back operands are drawn from; 0: from all");
  add_weights(maker);
  maker.run(make_random, how);
}

}  // namespace

void add_make_families(CLI::App& make, const MakeGraphs& how) {
  add_layered(make, how);
  add_fork_join(make, how);
  add_tree(make, how);
  add_stencil(make, how);
  add_fft(make, how);
  add_all_to_all(make, how);
  add_random(make, how);
}

}  // namespace tutti
