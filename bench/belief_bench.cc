// What the belief can do, on worlds whose answers are known (docs/results/symphony.md):
//
//   belief_bench gradient   the sampling gradient beside the exact one
//   belief_bench cost       its cost beside full inference (Markov chains), at equal accuracy
//   belief_bench coverage   how often 95 % intervals of counters hold the truth
//   belief_bench planted    constants that we planted, learnt back
//   belief_bench hidden     the use of a switch that has no counter, and what missing counters cost
//
// Times are processor time of one thread. Everything is simulated.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/belief_world.h"
#include "tutti/base/check.h"
#include "tutti/belief/belief.h"
#include "tutti/belief/fit.h"
#include "tutti/belief/mcmc.h"
#include "tutti/belief/testing.h"
#include "tutti/machine/preset.h"

namespace tutti {
namespace {

double processor_ms() {
  return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double constant_of(const Belief& belief, const std::vector<double>& raw, const std::string& name) {
  const std::vector<double> natural = belief.network().natural(raw);
  for (size_t k = 0; k < natural.size(); ++k) {
    if (belief.network().constants()[k].name == name) return natural[k];
  }
  TUTTI_CHECK(!"no such constant");
  return 0;
}

// ---- gradient

void show_gradient() {
  using testing::Seen;
  constexpr int kNetworks = 20;
  constexpr int kSeeds = 5;
  const std::vector<int> counts = {64, 256, 1024, 4096, 16384};
  fmt::print("mean cosine with the exact gradient / rms relative error; {} random networks each\n",
             kNetworks);
  fmt::print("{:<24}", "samples");
  for (const int count : counts) fmt::print("{:>16}", count);
  fmt::print("{:>8}\n", "slope");
  for (const bool is_diamond : {false, true}) {
    for (const Seen seen : {Seen::nothing, Seen::root, Seen::leaf}) {
      std::vector<double> cosines(counts.size(), 0.0);
      std::vector<double> squares(counts.size(), 0.0);
      std::string name;
      for (uint64_t network = 1; network <= kNetworks; ++network) {
        testing::Question question = testing::question_on(is_diamond, seen, network);
        name = question.name;
        const std::vector<double> exact = question.exact_gradient();
        for (size_t c = 0; c < counts.size(); ++c) {
          for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
            const auto estimate = question.estimate(counts[c], seed);
            cosines[c] += testing::cosine(estimate, exact) / (kNetworks * kSeeds);
            squares[c] +=
                std::pow(testing::relative_error(estimate, exact), 2) / (kNetworks * kSeeds);
          }
        }
      }
      fmt::print("{:<24}", name);
      for (size_t c = 0; c < counts.size(); ++c)
        fmt::print("{:>8.4f} {:>7.4f}", cosines[c], std::sqrt(squares[c]));
      fmt::print("{:>8.2f}\n", 0.5 * std::log(squares.back() / squares.front()) /
                                   std::log(static_cast<double>(counts.back()) / counts.front()));
    }
  }
}

// ---- cost

// Sixteen cores, two GPUs behind a switch and a third accelerator at the root complex, one variable
// for each DMA as in Fig. 5.
Machine sixteen_cores() {
  MachineSpec spec{.name = "sixteen"};
  spec.hosts.push_back({.name = "host"});
  spec.devices.push_back(
      {.device = {.name = "cpu", .kind = "cpu", .units = 16, .bytes_per_s = 1e11},
       .uses_host_memory = true});
  spec.switches.push_back({.name = "pcs", .bytes_per_s = 24e9});
  spec.links.push_back(
      {.name = "host-pcs", .ends = {"host", "pcs"}, .sharing = Sharing::unlimited});
  for (const std::string name : {"gpu0", "gpu1", "fpga"}) {
    spec.devices.push_back({.device = {.name = name, .kind = name == "fpga" ? "fpga" : "gpu"}});
    spec.links.push_back({.name = name + "-pcie",
                          .ends = {name == "fpga" ? "host" : "pcs", name},
                          .bytes_per_s = 12e9,
                          .full_duplex = false});
  }
  auto machine = Machine::build(std::move(spec));
  TUTTI_CHECK(machine.has_value());
  return std::move(*machine);
}

std::vector<Counter> sixteen_counters(const Machine& machine) {
  std::vector<Counter> counters;
  const auto add = [&](Quantity quantity, const Resource& resource, int threshold = 0) {
    counters.push_back({resource_name(machine, resource), "", resource, quantity, threshold});
  };
  for (int c = 0; c < 16; ++c) add(Quantity::busy, core_of(DeviceId{0}, c));
  const Resource memory = resource_of(machine.host_memory());
  for (const int threshold : {1, 4, 16}) add(Quantity::outstanding, memory, threshold);
  add(Quantity::traffic, memory);
  add(Quantity::waiting, memory);
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    const ChannelId id{i};
    const std::string& name = machine.channel(id).name;
    if (name == "pcs") {
      add(Quantity::waiting, resource_of(id));
    } else if (name.ends_with("-pcie") || name.starts_with("host-pcs")) {
      add(Quantity::traffic, resource_of(id));
    }
  }
  for (const DeviceId id : machine.devices()) {
    if (machine.device(id).kind != "cpu") add(Quantity::busy, resource_of(id));
  }
  return counters;
}

// What the network itself might see: some value of every root, and of each waiting a draw below
// them.
Observation some_observation(const Belief& belief, const std::vector<Counter>& counters) {
  Rng rng(3);
  Observation observation;
  double at_least = 0.9;
  for (const Counter& counter : counters) {
    double share = 0.2 + 0.5 * rng.uniform();
    if (counter.quantity == Quantity::outstanding) share = at_least *= 0.7;
    const double unit = counter.quantity == Quantity::traffic ? 12e9 : 1;
    const bool is_leaf = counter.quantity == Quantity::waiting;
    observation.readings.push_back({share * unit, 0.1 * unit, is_leaf ? 0 : 8});
  }
  const Inferred drawn =
      belief.infer(belief.network().start(), observation, {.samples = 1, .seed = 11});
  for (size_t c = 0; c < counters.size(); ++c) {
    for (const VariableId id : belief.network().variables()) {
      if (counters[c].quantity != Quantity::waiting ||
          belief.network().variable(id).name != "waiting[" + counters[c].name + "]") {
        continue;
      }
      observation.readings[c] = {drawn.samples.column(id)[0], 0.1, 8};
    }
  }
  return observation;
}

// One way to get a gradient: with more effort it costs more and errs less.
struct Way {
  std::string name;
  std::function<std::vector<double>(int effort, uint64_t seed)> gradient;
  std::vector<int> efforts;
};

struct Price {
  int effort = 0;
  double ms = 0;
  double error = 0;
  double cosine = 0;
};

// The cheapest effort whose error is at most the target, or the first that costs more than
// `most_ms`.
Price price_at(const Way& way, const std::vector<double>& exact, double target, double most_ms) {
  Price price;
  for (const int effort : way.efforts) {
    constexpr int kSeeds = 5;
    double squares = 0;
    double cosine = 0;
    const double begin = processor_ms();
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto gradient = way.gradient(effort, seed);
      squares += std::pow(testing::relative_error(gradient, exact), 2) / kSeeds;
      cosine += testing::cosine(gradient, exact) / kSeeds;
    }
    price = {effort, (processor_ms() - begin) / kSeeds, std::sqrt(squares), cosine};
    if (price.error <= target || price.ms > most_ms) break;
  }
  return price;
}

void show_cost() {
  const Machine machine = sixteen_cores();
  const std::vector<Counter> counters = sixteen_counters(machine);
  const Belief belief(machine, counters);
  const Network& network = belief.network();
  fmt::print("{} variables, {} of them measured, {} constants, {} believed resources\n",
             network.size(), belief.measured_count(), network.constants().size(),
             belief.resources().size());
  const Observation observation = some_observation(belief, counters);
  const std::vector<double> constants = network.start();
  const Given given = belief.given(constants, observation);
  std::vector<double> slopes;
  std::vector<Sensitivity> sensitivities;
  Rng rng(5);
  for (const Believed& item : belief.resources()) {
    slopes.push_back(rng.normal());
    sensitivities.push_back({item.variable, slopes.back()});
  }
  const std::vector<double> exact =
      belief.backward(belief.infer(constants, observation, {.samples = 300000, .seed = 99}), slopes,
                      {}, GradientKind::path);
  const Samples some = draw_samples(network, given, {.samples = 4096});
  fmt::print("of 4096 weighted samples {:.0f} are effective\n", some.effective());
  std::vector<int> doubling;
  for (int effort = 16; effort <= 32768; effort *= 2) doubling.push_back(effort);
  std::vector<Way> ways;
  ways.push_back({"sampling",
                  [&](int effort, uint64_t seed) {
                    return belief.backward(
                        belief.infer(constants, observation, {.samples = effort, .seed = seed}),
                        slopes);
                  },
                  doubling});
  ways.push_back({"path",
                  [&](int effort, uint64_t seed) {
                    return belief.backward(
                        belief.infer(constants, observation, {.samples = effort, .seed = seed}),
                        slopes, {}, GradientKind::path);
                  },
                  doubling});
  for (const int chains : {8, 64}) {
    for (const int burn_in : {30, 200}) {
      ways.push_back(
          {fmt::format("{} chains, burn-in {}", chains, burn_in),
           [&, chains, burn_in](int effort, uint64_t seed) {
             const Samples samples =
                 run_chains(network, given,
                            {.chains = chains, .burn_in = burn_in, .sweeps = effort, .seed = seed});
             return sampling_gradient(network, given, samples, belief.reach(), sensitivities);
           },
           {16, 32, 64, 128, 256, 512, 1024, 2048, 4096}});
    }
  }
  for (const double target : {0.5, 0.25}) {
    fmt::print("\nrelative error at most {}\n", target);
    double sampling_ms = 0;
    for (const Way& way : ways) {
      const Price price = price_at(way, exact, target, sampling_ms > 0 ? 20 * sampling_ms : 1e9);
      if (way.name == "sampling") sampling_ms = price.ms;
      fmt::print("{:<26} effort {:>7}  {:>10.3f} ms  error {:.3f}  cosine {:.4f}  {:.1f}x{}\n",
                 way.name, price.effort, price.ms, price.error, price.cosine,
                 price.ms / sampling_ms, price.error <= target ? "" : "  (target not reached)");
      std::fflush(stdout);
    }
  }
}

// ---- coverage

void show_coverage() {
  constexpr int kTrials = 200000;
  fmt::print("{:>10} {:>14} {:>22}\n", "readings", "Student's t", "normal (1.96 S/sqrt N)");
  for (const int count : {5, 10, 20}) {
    Rng rng(static_cast<uint64_t>(count));
    int by_t = 0;
    int by_normal = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const double error = 0.1 + 3 * rng.uniform();
      double sum = 0;
      double squares = 0;
      for (int i = 0; i < count; ++i) {
        const double read = error * rng.normal();
        sum += read;
        squares += read * read;
      }
      const double mean = sum / count;
      const double spread = std::sqrt((squares - count * mean * mean) / (count - 1));
      const CounterBelief belief = belief_of({mean, spread, count});
      by_t += std::fabs(mean) <= belief.most * belief.scale ? 1 : 0;
      by_normal += std::fabs(mean) <= 1.96 * belief.scale ? 1 : 0;
    }
    fmt::print("{:>10} {:>12.2f} % {:>20.2f} %\n", count, 100.0 * by_t / kTrials,
               100.0 * by_normal / kTrials);
  }
}

// ---- planted constants

// A memory whose use is the share of time with at least theta requests outstanding, of the time
// with any. Requests outstanding are geometric, with a mean that differs from epoch to epoch; what
// the use costs shows as a slowdown, read with errors. Learns from the slowdown by the backward
// pass alone.
void show_planted_threshold() {
  MachineSpec spec{.name = "one"};
  spec.devices.push_back(
      {.device = {.name = "cpu", .kind = "cpu", .units = 1}, .uses_host_memory = true});
  auto machine = Machine::build(std::move(spec));
  TUTTI_CHECK(machine.has_value());
  const Resource memory = resource_of(machine->host_memory());
  const std::vector<int> thresholds = {1, 4, 8, 12, 16, 24, 32, 48};
  std::vector<Counter> counters;
  for (const int threshold : thresholds)
    counters.push_back({"outstanding", "share", memory, Quantity::outstanding, threshold});
  const Belief belief(*machine, counters);
  size_t place = 0;
  for (size_t r = 0; r < belief.resources().size(); ++r) {
    if (belief.resources()[r].resource == memory) place = r;
  }
  for (const double planted : {5.0, 11.0, 23.0}) {
    Rng rng(17);
    struct Sight {
      Observation observation;
      double slowdown;
    };
    std::vector<Sight> sights;
    for (int i = 0; i < 200; ++i) {
      const double mean = 1 + 39 * rng.uniform();
      // Pr(at least k) of a geometric number with that mean.
      const auto share = [&](double k) { return std::pow(mean / (1 + mean), k); };
      Sight sight{{}, share(planted) / share(1) + 0.03 * rng.normal()};
      for (const int threshold : thresholds)
        sight.observation.readings.push_back({share(threshold) + 0.01 * rng.normal(), 0.03, 8});
      sights.push_back(std::move(sight));
    }
    std::vector<double> constants = belief.network().start();
    Adam adam(constants.size(), 0.02);
    constexpr int kPasses = 20;
    constexpr size_t kBatch = 10;
    for (int pass = 0; pass < kPasses; ++pass) {
      for (size_t first = 0; first < sights.size(); first += kBatch) {
        std::vector<double> gradient(constants.size(), 0.0);
        for (size_t i = first; i < first + kBatch; ++i) {
          const Inferred inferred =
              belief.infer(constants, sights[i].observation,
                           {.samples = 256, .seed = static_cast<uint64_t>(pass) * 1000 + i});
          std::vector<double> by_mean(belief.resources().size(), 0.0);
          by_mean[place] = (inferred.mean[place] - sights[i].slowdown) / kBatch;
          const auto some = belief.backward(inferred, by_mean);
          for (size_t k = 0; k < gradient.size(); ++k) gradient[k] += some[k];
        }
        adam.step(gradient, constants);
      }
    }
    const double learnt = constant_of(belief, constants, "threshold.host");
    fmt::print("threshold       planted {:>6.2f}  learnt {:>6.2f}  off {:>5.1f} %\n", planted,
               learnt, 100 * (learnt / planted - 1));
  }
}

std::vector<double> fitted_to(const Belief& belief, const World& world, uint64_t first_seed) {
  std::vector<Observation> observations;
  for (uint64_t i = 0; i < 300; ++i) observations.push_back(world.run(first_seed + i).observation);
  return fit_constants(belief, belief.network().start(), observations,
                       {.passes = 10, .batch = 10, .rate = 0.03, .sampling = {.samples = 128}});
}

// Capacities of links and switch, learnt from how often transfers waited: nobody tells the truth.
void show_planted_capacities(const Machine& machine) {
  for (const auto& [link, shared] :
       std::vector<std::pair<double, double>>{{0.7, 0.9}, {0.5, 0.6}, {0.85, 0.7}}) {
    const World world(machine, {.link_capacity = link, .switch_capacity = shared});
    const Belief belief(machine, world.counters());
    const auto constants = fitted_to(belief, world, 1);
    fmt::print("links {} of what the machine states, switch {}\n", link, shared);
    const auto show = [&](const std::string& name, double planted) {
      const double learnt = constant_of(belief, constants, "capacity." + name);
      fmt::print("{:<15} planted {:>6.2f}  learnt {:>6.3f}  off {:>5.1f} %\n", name, planted,
                 learnt, 100 * (learnt / planted - 1));
    };
    show("bridge", shared);
    for (int g = 0; g < 4; ++g) {
      show(fmt::format("gpu{}-pcie>", g), link);
      show(fmt::format("gpu{}-pcie<", g), link);
    }
  }
}

// ---- the hidden switch

void show_hidden(const Machine& machine) {
  const World world(machine, {});
  const Belief belief(machine, world.counters());
  const auto fitted = fitted_to(belief, world, 1);
  const auto start = belief.network().start();
  size_t place = 0;
  size_t waiting = 0;
  for (size_t r = 0; r < belief.resources().size(); ++r) {
    if (belief.resources()[r].name == "switch[bridge]") place = r;
  }
  for (size_t c = 0; c < world.counters().size(); ++c) {
    if (world.counters()[c].name == "bridge.waiting") waiting = c;
  }
  constexpr int kEpochs = 200;
  std::vector<Epoch> epochs;
  for (uint64_t i = 0; i < kEpochs; ++i) epochs.push_back(world.run(100000 + i));
  fmt::print("mean absolute error of the switch's use over {} fresh epochs\n", kEpochs);
  fmt::print("{:<34}{:>8}{:>12}{:>10}{:>10}{:>8}\n", "counters", "ratio", "ratio, true", "unlearnt",
             "belief", "factor");
  const auto row = [&](const std::string& name, const std::vector<size_t>& removed) {
    double ratio = 0;
    double calibrated = 0;
    double unlearnt = 0;
    double believed = 0;
    for (const Epoch& epoch : epochs) {
      Observation observation = epoch.observation;
      for (const size_t c : removed) observation.readings[c] = {};
      double bytes = 0;
      for (const size_t c : world.into_switch()) bytes += observation.readings[c].mean;
      const auto error = [&](double use) {
        return std::fabs(std::clamp(use, 0.0, 1.0) - epoch.switch_use) / kEpochs;
      };
      ratio += error(bytes / world.switch_bytes_per_s());
      calibrated += error(bytes / (0.7 * world.switch_bytes_per_s()));
      const SampleOptions sampling{.samples = 512};
      unlearnt += error(belief.infer(start, observation, sampling).mean[place]);
      believed += error(belief.infer(fitted, observation, sampling).mean[place]);
    }
    fmt::print("{:<34}{:>8.3f}{:>12.3f}{:>10.3f}{:>10.3f}{:>7.1f}x\n", name, ratio, calibrated,
               unlearnt, believed, ratio / believed);
  };
  row("all", {});
  std::vector<size_t> removed;
  for (size_t i = 0; i < world.into_switch().size(); ++i) {
    removed.push_back(world.into_switch()[i]);
    row(fmt::format("{} of {} traffic counters removed", i + 1, world.into_switch().size()),
        removed);
  }
  row("the switch's waiting removed", {waiting});
  removed.push_back(waiting);
  row("waiting and all traffic removed", removed);
}

int run(const std::string& what) {
  const bool all = what == "all";
  bool known = all;
  const auto is = [&](const char* name) {
    known = known || what == name;
    return all || what == name;
  };
  const auto preset = make_preset("p100-4");
  TUTTI_CHECK(preset.has_value());
  if (is("gradient")) show_gradient();
  if (is("cost")) show_cost();
  if (is("coverage")) show_coverage();
  if (is("planted")) {
    show_planted_threshold();
    show_planted_capacities(*preset);
  }
  if (is("hidden")) show_hidden(*preset);
  if (known) return 0;
  std::fprintf(stderr, "belief_bench: gradient, cost, coverage, planted, hidden or all, not '%s'\n",
               what.c_str());
  return 2;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  return tutti::run(argc > 1 ? argv[1] : "all");
}
