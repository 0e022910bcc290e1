// tutti graph make layered, fork-join, tree, stencil, fft, all-to-all, random: seeded families.

#include <fmt/format.h>

#include "tools/graph/graph_make.h"
#include "tutti/graph/make/family/family.h"
#include "tutti/graph/make/layered.h"

namespace tutti {
namespace {

// A number of a spec, and its flag.
template <class Spec, class Value>
struct NumberFlag {
  const char* name;
  Value Spec::*number;
  const char* about;
};
// clang 14 does not deduce the parameters of aggregates by itself.
template <class Spec, class Value>
NumberFlag(const char*, Value Spec::*, const char*) -> NumberFlag<Spec, Value>;

// The flags that families with drawn weights share.
template <class Spec>
void add_weights(Maker<Spec>& maker) {
  Weights& weights = maker.spec->weights;
  maker.flag("--flops", weights.flops, "Flops of each op, give or take --spread");
  maker.flag("--bytes", weights.bytes, "Bytes of each value, give or take --spread");
  maker.flag("--spread", weights.spread, "Uniform spread, as a share of the mean");
  maker.flag("--ccr", weights.ccr,
             "Scale bytes to this ratio: (mean bytes of an edge / --bandwidth) / (mean flops of an "
             "op / --rate); 0: leave them");
  maker.flag("--bandwidth", weights.bandwidth, "Bytes per second, for --ccr");
  maker.flag("--rate", weights.rate, "Flops per second, for --ccr");
  maker.flag("--seed", weights.seed, "Seed")->check(whole_number());
}

// Adds the families one by one.
struct Families {
  CLI::App& make;
  const MakeGraphs& how;

  template <class Spec, class MakeGraph, class... Owner, class... Value>
  void add(const char* name, const char* about, const char* example, MakeGraph make_graph,
           NumberFlag<Owner, Value>... flags) {
    Maker<Spec> maker(make, name, about, example);
    (maker.flag(flags.name, (*maker.spec).*flags.number, flags.about), ...);
    if constexpr (requires { maker.spec->weights; }) {
      add_weights(maker);
    } else {
      maker.flag("--seed", maker.spec->seed, "Seed")->check(whole_number());
    }
    maker.run(make_graph, how);
  }
};

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

}  // namespace

void add_make_families(CLI::App& make, const MakeGraphs& how) {
  Families families{make, how};
  families.add<LayeredSpec>(
      "layered", "Layers of ops, each reading a few values of the layer before",
      "--ops 100000 --seed 7", make_layered,
      NumberFlag{"--ops", &LayeredSpec::ops, "Number of ops"},
      NumberFlag{"--width", &LayeredSpec::width,
                 "Ops in a layer; 0: about the square root of --ops"},
      NumberFlag{"--operands", &LayeredSpec::operands, "Operands of each op"},
      NumberFlag{"--bytes", &LayeredSpec::bytes, "Bytes of each value, give or take a half"},
      NumberFlag{"--flops", &LayeredSpec::flops, "Flops of each op, give or take a half"});
  families.add<ForkJoinSpec>(
      "fork-join", "One op, many that read it, one that reads them all",
      "--stages 4 --width 16 --seed 7", make_fork_join,
      NumberFlag{"--stages", &ForkJoinSpec::stages, "How often it forks and joins"},
      NumberFlag{"--width", &ForkJoinSpec::width, "Ops between fork and join"});
  families.add<TreeFlags>(
      "tree", "A full tree, towards the root or away from it",
      "--levels 7 --direction out --seed 7", run_tree,
      NumberFlag{"--levels", &TreeSpec::levels, "Levels, root and leaves included"},
      NumberFlag{"--arity", &TreeSpec::arity, "Branches of each op"},
      NumberFlag{"--direction", &TreeFlags::direction_text,
                 "in: leaves first; out: the root first"});
  families.add<StencilSpec>("stencil", "Rows of cells that read their neighbours",
                            "--width 16 --steps 32 --seed 7", make_stencil,
                            NumberFlag{"--width", &StencilSpec::width, "Cells in a row"},
                            NumberFlag{"--steps", &StencilSpec::steps, "Rows"},
                            NumberFlag{"--radius", &StencilSpec::radius, "How far neighbours are"});
  families.add<FftSpec>(
      "fft", "The butterflies of a fast Fourier transform", "--points 32 --seed 7", make_fft,
      NumberFlag{"--points", &FftSpec::points, "Blocks of points, a power of two"});
  families.add<AllToAllSpec>("all-to-all", "Phases in which every op reads the phase before",
                             "--width 8 --phases 4 --seed 7", make_all_to_all,
                             NumberFlag{"--width", &AllToAllSpec::width, "Ops in a phase"},
                             NumberFlag{"--phases", &AllToAllSpec::phases, "Phases"});
  families.add<RandomSpec>(
      "random", "Ops that read random earlier ones", "--ops 500 --ccr 2 --seed 7", make_random,
      NumberFlag{"--ops", &RandomSpec::ops, "Number of ops"},
      NumberFlag{"--degree", &RandomSpec::degree, "Operands of an op, on average"},
      NumberFlag{"--window", &RandomSpec::window,
                 "How far back operands are drawn from; 0: from all"});
}

}  // namespace tutti
