#include "tutti/train/doppler/curriculum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "tutti/base/check.h"
#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/family/family.h"
#include "tutti/graph/make/ffnn.h"
#include "tutti/graph/make/layered.h"
#include "tutti/graph/make/perturb.h"

namespace tutti {
namespace {

using std::chrono::microseconds;

double log_uniform(Rng& rng, double least, double most) {
  return least * std::pow(most / least, rng.uniform());
}

int64_t between(Rng& rng, int64_t least, int64_t most) {
  return least + static_cast<int64_t>(rng.below(static_cast<uint64_t>(most - least + 1)));
}

bool chance(Rng& rng, double share) {
  return rng.uniform() < share;
}

template <class T>
T sure(Result<T> result) {  // of our own making, so it cannot be wrong
  TUTTI_CHECK(result.has_value());
  return std::move(*result);
}

// Bands between the ratios that tests use.
double draw_ratio(Rng& rng) {
  constexpr std::array<std::pair<double, double>, 4> kBands = {
      {{0.03, 0.08}, {0.13, 0.8}, {1.25, 8}, {12, 20}}};
  constexpr std::array<double, 4> kUpTo = {0.15, 0.5, 0.85, 1};
  const double at = rng.uniform();
  size_t band = 0;
  while (at >= kUpTo[band]) ++band;
  return log_uniform(rng, kBands[band].first, kBands[band].second);
}

Weights draw_weights(Rng& rng) {
  return {.flops = log_uniform(rng, 1e8, 2e10),
          .spread = 0.9 * rng.uniform(),
          .ccr = draw_ratio(rng),
          .seed = rng.next()};
}

Graph draw_tensor_program(Rng& rng, int devices) {
  const int64_t size = int64_t{1024} << between(rng, 0, 3);
  const auto blocks = [&](int64_t most) { return int64_t{1} << between(rng, 0, most); };
  const ProductSplit split{2 * blocks(1), 2 * blocks(1), blocks(2)};
  if (chance(rng, 0.5)) {
    return std::move(sure(make_chainmm({.size = size, .split = split, .devices = devices})).graph);
  }
  FfnnSpec spec{.batch = size, .sizes = {size, 2 * size, size}, .train = chance(rng, 0.5)};
  spec.devices = devices;
  if (chance(rng, 0.5)) {
    spec.split = split;
  } else {
    spec.data_shards = blocks(3);
  }
  return std::move(sure(make_ffnn(spec)).graph);
}

Graph draw_skeleton(const CurriculumSpec& spec, Rng& rng) {
  const auto ops = static_cast<int64_t>(log_uniform(rng, spec.least_ops, spec.most_ops));
  const Weights weights = draw_weights(rng);
  const int64_t width = std::max<int64_t>(
      2, static_cast<int64_t>(log_uniform(rng, 2, std::max(2.5, 0.5 * static_cast<double>(ops)))));
  switch (rng.below(5)) {
    case 0: {
      // The layered family has no ratio of its own: its bytes follow from the one drawn.
      const double bytes = weights.ccr * weights.flops / weights.rate * weights.bandwidth;
      return sure(make_layered({.ops = static_cast<int32_t>(ops),
                                .width = static_cast<int32_t>(std::min(width, ops)),
                                .operands = static_cast<int32_t>(between(rng, 1, 4)),
                                .bytes = std::max<int64_t>(1, static_cast<int64_t>(bytes)),
                                .flops = weights.flops,
                                .seed = weights.seed}));
    }
    case 1:
      return sure(make_fork_join(
          {.stages = std::max<int64_t>(1, ops / (width + 2)), .width = width, .weights = weights}));
    case 2: {
      const int64_t arity = between(rng, 2, 3);
      int64_t levels = 2;
      for (int64_t size = 1 + arity, row = arity; size + row * arity <= ops; ++levels) {
        row *= arity;
        size += row;
      }
      return sure(make_tree({.levels = levels, .arity = arity, .weights = weights}));
    }
    case 3:
      return sure(make_stencil({.width = width,
                                .steps = std::max<int64_t>(2, ops / width),
                                .radius = between(rng, 1, 2),
                                .weights = weights}));
    default:
      return sure(make_random({.ops = ops,
                               .degree = 1 + 3 * rng.uniform(),
                               .window = chance(rng, 0.5) ? 0 : between(rng, 4, 40),
                               .weights = weights}));
  }
}

// The wires of a drawn machine.
enum class Wiring { free, bridge, direct, hosts };

class MachineDraw {
 public:
  explicit MachineDraw(Rng& rng) : rng_(rng) {}

  Machine run() {
    devices_ = static_cast<int>(between(rng_, 2, 8));
    wiring_ = static_cast<Wiring>(rng_.below(4));
    const int hosts = wiring_ == Wiring::hosts && devices_ >= 4 ? 2 : 1;
    bytes_per_s_ = log_uniform(rng_, 4e9, 60e9);
    latency_ = microseconds(between(rng_, 1, 15));
    for (int h = 0; h < hosts; ++h) add_host(h);
    if (hosts == 2) {
      spec_.links.push_back({.name = "network",
                             .ends = {"host0", "host1"},
                             .latency = microseconds(between(rng_, 5, 40)),
                             .bytes_per_s = log_uniform(rng_, 1e9, 12e9),
                             .sharing = Sharing::shared});
    }
    add_devices(hosts);
    if (wiring_ == Wiring::direct) add_direct_links();
    spec_.name = "drawn";
    return sure(Machine::build(std::move(spec_)));
  }

 private:
  void add_host(int h) {
    const std::string host = fmt::format("host{}", h);
    const std::string bridge = fmt::format("bridge{}", h);
    spec_.hosts.push_back({.name = host});
    const double bridge_rate = wiring_ == Wiring::free ? 0 : bytes_per_s_ * log_uniform(rng_, 1, 4);
    spec_.switches.push_back({.name = bridge, .bytes_per_s = bridge_rate});
    spec_.links.push_back({.name = host + "-" + bridge,
                           .ends = {host, bridge},
                           .latency = latency_,
                           .sharing = Sharing::unlimited});
  }

  void add_devices(int hosts) {
    const double flops = log_uniform(rng_, 4e12, 3e13);
    const double memory = log_uniform(rng_, 3e11, 3e12);
    const double slow = chance(rng_, 0.5) ? 1 : log_uniform(rng_, 0.2, 0.8);
    const double slow_share = slow < 1 ? 0.5 : 0;
    const int copy_engines = static_cast<int>(between(rng_, 0, 2));
    for (int i = 0; i < devices_; ++i) {
      const std::string name = fmt::format("device{}", i);
      const double rate = i > 0 && chance(rng_, slow_share) ? slow : 1;
      const int host = i * hosts / devices_;
      spec_.devices.push_back({.device = {.name = name,
                                          .kind = rate < 1 ? "slow-gpu" : "gpu",
                                          .flops_per_s = flops * rate,
                                          .bytes_per_s = memory * rate,
                                          .launch_overhead = microseconds(between(rng_, 1, 10))},
                               .host = fmt::format("host{}", host),
                               .copy_engines = wiring_ == Wiring::free ? 0 : copy_engines});
      spec_.links.push_back(
          {.name = name + "-bus",
           .ends = {name, fmt::format("bridge{}", host)},
           .latency = latency_,
           .bytes_per_s = bytes_per_s_,
           .sharing = wiring_ == Wiring::free ? Sharing::unlimited : Sharing::exclusive});
    }
    if (!chance(rng_, 0.2)) return;
    spec_.devices.push_back({.device = {.name = "cpu",
                                        .kind = "cpu",
                                        .flops_per_s = flops * log_uniform(rng_, 0.03, 0.2),
                                        .bytes_per_s = 0.1 * memory,
                                        .launch_overhead = microseconds(1)},
                             .host = "host0",
                             .uses_host_memory = true});
  }

  void add_direct_links() {
    const double rate = bytes_per_s_ * log_uniform(rng_, 1.5, 5);
    for (int a = 0; a < devices_; ++a) {
      for (int b = a + 1; b < devices_; ++b) {
        if (!chance(rng_, 0.5)) continue;
        spec_.links.push_back({.name = fmt::format("direct{}-{}", a, b),
                               .ends = {fmt::format("device{}", a), fmt::format("device{}", b)},
                               .latency = latency_,
                               .bytes_per_s = rate * static_cast<double>(between(rng_, 1, 2))});
      }
    }
  }

  Rng& rng_;
  MachineSpec spec_;
  int devices_ = 2;
  Wiring wiring_ = Wiring::free;
  double bytes_per_s_ = 0;
  microseconds latency_{0};
};

}  // namespace

Graph draw_graph(const CurriculumSpec& spec, Rng& rng, int devices) {
  Graph graph = chance(rng, 0.3) ? draw_tensor_program(rng, devices) : draw_skeleton(spec, rng);
  return sure(perturbed(graph, {.seed = rng.next(), .spread = 0.05}));
}

Machine draw_machine(Rng& rng) {
  return MachineDraw(rng).run();
}

std::unique_ptr<TrainingProblem> draw_problem(const CurriculumSpec& spec, Rng rng) {
  Machine machine = draw_machine(rng);
  CostSpec costs;
  if (spec.noise > 0) {
    costs.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = spec.noise};
    costs.transfer_noise = costs.run_time_noise;
  }
  for (;;) {  // tensor programs are as large as their splits make them
    Graph graph = draw_graph(spec, rng, machine.size());
    if (graph.size() > spec.most_ops) continue;
    std::string name = graph.name();
    return sure(
        TrainingProblem::make(std::move(name), std::move(graph), std::move(machine), costs));
  }
}

}  // namespace tutti
