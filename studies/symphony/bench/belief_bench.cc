// What the belief can do, on worlds whose answers are known (docs/results/belief.md):
//
//   belief_bench gradient   the sampling gradient against the exact one
//   belief_bench cost       its cost against full inference (Markov chains), at equal accuracy
//   belief_bench coverage   how often 95 % intervals of counters hold the truth
//   belief_bench planted    constants that we planted, learnt back
//   belief_bench hidden     the use of a switch that has no counter, and what missing counters cost
//
// Times are processor time of one thread. Everything is simulated. Means of kSeeds worlds, with 95
// % intervals.

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

#include "studies/symphony/bench/belief_world.h"
#include "studies/symphony/mcmc.h"
#include "tutti/base/check.h"
#include "tutti/base/statistics.h"
#include "tutti/belief/belief.h"
#include "tutti/belief/fit.h"
#include "tutti/belief/testing.h"
#include "tutti/machine/preset.h"

namespace tutti {
namespace {

constexpr uint64_t kSeeds = 5;

// "0.123 ± 0.004".
std::string shown(const std::vector<double>& samples, int digits) {
  const Summary summary = summary_of(samples);
  return fmt::format("{:.{}f} ± {:.{}f}", summary.mean, digits, summary.half_interval, digits);
}

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
Observation some_observation(const Belief& belief, const std::vector<Counter>& counters,
                             uint64_t seed) {
  Rng rng(seed);
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
      belief.infer(belief.network().start(), observation, {.samples = 1, .seed = seed});
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
    constexpr int kTrials = 10;
    double squares = 0;
    double cosine = 0;
    const double begin = processor_ms();
    for (uint64_t trial = 1; trial <= kTrials; ++trial) {
      const auto gradient = way.gradient(effort, trial);
      squares += std::pow(testing::relative_error(gradient, exact), 2) / kTrials;
      cosine += testing::cosine(gradient, exact) / kTrials;
    }
    price = {effort, (processor_ms() - begin) / kTrials, std::sqrt(squares), cosine};
    if (price.error <= target || price.ms > most_ms) break;
  }
  return price;
}

// The prices of all ways to one gradient, for one observation: each the cheapest effort that
// reaches the target.
void price_ways(const Belief& belief, const Observation& observation, uint64_t seed, double target,
                std::map<std::string, std::vector<double>>& times,
                std::vector<std::string>& names) {
  const Network& network = belief.network();
  const std::vector<double> constants = network.start();
  const Given given = belief.given(constants, observation);
  std::vector<double> slopes;
  std::vector<Sensitivity> sensitivities;
  Rng rng(seed);
  for (const Believed& item : belief.resources()) {
    slopes.push_back(rng.normal());
    sensitivities.push_back({item.variable, slopes.back()});
  }
  const std::vector<double> exact =
      belief.backward(belief.infer(constants, observation, {.samples = 300000, .seed = 99}), slopes,
                      {}, GradientKind::path);
  const auto by_kind = [&](GradientKind kind) {
    return [&, kind](int effort, uint64_t trial) {
      return belief.backward(
          belief.infer(constants, observation, {.samples = effort, .seed = trial}), slopes, {},
          kind);
    };
  };
  std::vector<int> doubling;
  for (int effort = 16; effort <= 65536; effort *= 2) doubling.push_back(effort);
  std::vector<Way> ways;
  ways.push_back({"sampling", by_kind(GradientKind::sampling), doubling});
  ways.push_back({"path", by_kind(GradientKind::path), doubling});
  for (const int chains : {8, 64}) {
    for (const int burn_in : {30, 200}) {
      ways.push_back(
          {fmt::format("{} chains, burn-in {}", chains, burn_in),
           [&, chains, burn_in](int effort, uint64_t trial) {
             const Samples samples = run_chains(
                 network, given,
                 {.chains = chains, .burn_in = burn_in, .sweeps = effort, .seed = trial});
             return sampling_gradient(network, given, samples, belief.reach(), sensitivities);
           },
           doubling});
    }
  }
  double sampling_ms = 0;
  double cheapest_chains = 1e9;
  for (const Way& way : ways) {
    // By how much the most expensive chains lose does not matter.
    const Price price = price_at(way, exact, target, cheapest_chains);
    if (way.name == "sampling") sampling_ms = price.ms;
    if (way.name.find("chains") != std::string::npos && price.error <= target)
      cheapest_chains = std::min(cheapest_chains, price.ms);
    if (times[way.name].empty() && way.name.find("chains") == std::string::npos)
      names.push_back(way.name);
    times[way.name].push_back(price.ms);
    times[way.name + " factor"].push_back(price.ms / sampling_ms);
    fmt::print("  seed {} {:<24} effort {:>6} {:>9.3f} ms  error {:.3f}  cosine {:.4f}{}\n", seed,
               way.name, price.effort, price.ms, price.error, price.cosine,
               price.error <= target ? "" : "  (target not reached)");
    std::fflush(stdout);
  }
  if (times["cheapest chains"].empty()) names.push_back("cheapest chains");
  times["cheapest chains"].push_back(cheapest_chains);
  times["cheapest chains factor"].push_back(cheapest_chains / sampling_ms);
}

void show_cost() {
  const Machine machine = sixteen_cores();
  const std::vector<Counter> counters = sixteen_counters(machine);
  const Belief belief(machine, counters);
  fmt::print("{} variables, {} of them measured, {} constants, {} believed resources\n",
             belief.network().size(), belief.measured_count(), belief.network().constants().size(),
             belief.resources().size());
  for (const double target : {0.25, 0.1}) {
    std::map<std::string, std::vector<double>> times;
    std::vector<std::string> names;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed)
      price_ways(belief, some_observation(belief, counters, seed), seed, target, times, names);
    fmt::print("relative error at most {}:\n", target);
    for (const std::string& name : names) {
      fmt::print("{:<26} {:>20} ms  {:>16}x\n", name, shown(times[name], 3),
                 shown(times[name + " factor"], 1));
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
// the use costs shows as a slowdown, read with errors.
struct SlowMemory {
  Observation observation;
  double slowdown;
};

std::vector<SlowMemory> slow_memory(double theta, const std::vector<int>& thresholds,
                                    uint64_t seed) {
  Rng rng(seed);
  std::vector<SlowMemory> examples;
  for (int i = 0; i < 200; ++i) {
    const double mean = 1 + 39 * rng.uniform();
    // Pr(at least k) of a geometric number with that mean.
    const auto share = [&](double k) { return std::pow(mean / (1 + mean), k); };
    SlowMemory example{{}, share(theta) / share(1) + 0.03 * rng.normal()};
    for (const int threshold : thresholds)
      example.observation.readings.push_back({share(threshold) + 0.01 * rng.normal(), 0.03, 8});
    examples.push_back(std::move(example));
  }
  return examples;
}

// Learns from the slowdown by the backward pass alone. `place` is that of the memory.
std::vector<double> fitted_to(const Belief& belief, const std::vector<SlowMemory>& examples,
                              size_t place) {
  std::vector<double> constants = belief.network().start();
  Adam adam(constants.size(), 0.02);
  constexpr int kPasses = 20;
  constexpr size_t kBatch = 10;
  for (int pass = 0; pass < kPasses; ++pass) {
    for (size_t first = 0; first < examples.size(); first += kBatch) {
      std::vector<double> gradient(constants.size(), 0.0);
      for (size_t i = first; i < first + kBatch; ++i) {
        const Inferred inferred =
            belief.infer(constants, examples[i].observation,
                         {.samples = 256, .seed = static_cast<uint64_t>(pass) * 1000 + i});
        std::vector<double> by_mean(belief.resources().size(), 0.0);
        by_mean[place] = (inferred.mean[place] - examples[i].slowdown) / kBatch;
        const auto some = belief.backward(inferred, by_mean);
        for (size_t k = 0; k < gradient.size(); ++k) gradient[k] += some[k];
      }
      adam.step(gradient, constants);
    }
  }
  return constants;
}

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
    std::vector<double> learnt;
    double worst = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto constants = fitted_to(belief, slow_memory(planted, thresholds, seed), place);
      learnt.push_back(constant_of(belief, constants, "threshold.host"));
      worst = std::max(worst, std::fabs(learnt.back() / planted - 1));
    }
    fmt::print("threshold {:>2}: learnt {}, the worst seed {:.1f} % off\n", planted,
               shown(learnt, 2), 100 * worst);
  }
}

std::vector<double> fitted_to(const Belief& belief, const World& world, uint64_t first_seed) {
  std::vector<Observation> observations;
  constexpr uint64_t kEpochs = 2400;
  for (uint64_t i = 0; i < kEpochs; ++i)
    observations.push_back(world.run(first_seed + i).observation);
  return fit_constants(belief, belief.network().start(), observations,
                       {.passes = 10, .batch = 20, .rate = 0.01, .sampling = {.samples = 128}});
}

// Capacities of links and switch, learnt from how often transfers waited, without the true values.
// The last world's links are hardly ever the narrowest on a way: then no counter shows them.
void show_planted_capacities(const Machine& machine) {
  for (const auto& [link, shared] :
       std::vector<std::pair<double, double>>{{0.7, 0.9}, {0.5, 0.6}, {0.6, 0.8}, {0.85, 0.7}}) {
    std::vector<double> switches;
    std::vector<double> links;
    double worst_switch = 0;
    double worst_link = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const World world(machine, {.link_capacity = link, .switch_capacity = shared});
      const Belief belief(machine, world.counters());
      const auto constants = fitted_to(belief, world, seed * 1000000);
      const auto learnt = [&](const std::string& name, double planted, double& worst) {
        const double value = constant_of(belief, constants, "capacity." + name);
        worst = std::max(worst, std::fabs(value / planted - 1));
        return value;
      };
      switches.push_back(learnt("bridge", shared, worst_switch));
      double mean = 0;
      for (int g = 0; g < 4; ++g) {
        mean += learnt(fmt::format("gpu{}-pcie>", g), link, worst_link) / 8;
        mean += learnt(fmt::format("gpu{}-pcie<", g), link, worst_link) / 8;
      }
      links.push_back(mean);
    }
    fmt::print(
        "switch {:.2f}: learnt {}, worst {:.1f} % off; links {:.2f}: learnt {}, worst of 40 "
        "{:.1f} %\n",
        shared, shown(switches, 3), 100 * worst_switch, link, shown(links, 3), 100 * worst_link);
    std::fflush(stdout);
  }
}

// ---- the hidden switch

// Mean absolute errors of what is said about the switch's use.
struct HiddenErrors {
  std::vector<double> ratio;     // bytes counted over what the machine states: the naive ratio
  std::vector<double> true_one;  // over the true, hidden capacity of the switch
  std::vector<double> unlearnt;  // the belief before it has learnt
  std::vector<double> learnt;
  std::vector<double> factor;  // ratio over learnt
};

struct Removal {
  std::string name;
  std::vector<size_t> counters;
};

std::vector<Removal> removals(const World& world) {
  size_t waiting = 0;
  for (size_t c = 0; c < world.counters().size(); ++c) {
    if (world.counters()[c].name == "bridge.waiting") waiting = c;
  }
  std::vector<Removal> all{{"all", {}}};
  std::vector<size_t> removed;
  for (const size_t c : world.into_switch()) {
    removed.push_back(c);
    all.push_back({fmt::format("{} of {} traffic counters removed", removed.size(),
                               world.into_switch().size()),
                   removed});
  }
  all.push_back({"the switch's waiting removed", {waiting}});
  removed.push_back(waiting);
  all.push_back({"waiting and all traffic removed", removed});
  return all;
}

void add_hidden_errors(const World& world, const Belief& belief, const std::vector<double>& fitted,
                       const std::vector<Epoch>& epochs, const Removal& removal,
                       HiddenErrors& errors) {
  size_t place = 0;
  for (size_t r = 0; r < belief.resources().size(); ++r) {
    if (belief.resources()[r].name == "switch[bridge]") place = r;
  }
  const auto start = belief.network().start();
  const SampleOptions sampling{.samples = 512};
  double ratio = 0;
  double true_one = 0;
  double unlearnt = 0;
  double learnt = 0;
  for (const Epoch& epoch : epochs) {
    Observation observation = epoch.observation;
    for (const size_t c : removal.counters) observation.readings[c] = {};
    double bytes = 0;
    for (const size_t c : world.into_switch()) bytes += observation.readings[c].mean;
    const auto error = [&](double use) {
      return std::fabs(std::clamp(use, 0.0, 1.0) - epoch.switch_use) /
             static_cast<double>(epochs.size());
    };
    ratio += error(bytes / world.switch_bytes_per_s());
    true_one += error(bytes / (WorldOptions().switch_capacity * world.switch_bytes_per_s()));
    unlearnt += error(belief.infer(start, observation, sampling).mean[place]);
    learnt += error(belief.infer(fitted, observation, sampling).mean[place]);
  }
  errors.ratio.push_back(ratio);
  errors.true_one.push_back(true_one);
  errors.unlearnt.push_back(unlearnt);
  errors.learnt.push_back(learnt);
  errors.factor.push_back(ratio / learnt);
}

void show_hidden(const Machine& machine) {
  const World world(machine, {});
  const Belief belief(machine, world.counters());
  const std::vector<Removal> rows = removals(world);
  std::vector<HiddenErrors> errors(rows.size());
  constexpr uint64_t kEpochs = 200;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto fitted = fitted_to(belief, world, seed * 1000000);
    std::vector<Epoch> epochs;
    for (uint64_t i = 0; i < kEpochs; ++i) epochs.push_back(world.run(seed * 1000000 + 500000 + i));
    for (size_t r = 0; r < rows.size(); ++r)
      add_hidden_errors(world, belief, fitted, epochs, rows[r], errors[r]);
  }
  fmt::print("mean absolute error of the switch's use over {} fresh epochs\n", kEpochs);
  fmt::print("{:<34}{:>16}{:>16}{:>16}{:>16}{:>12}\n", "counters", "ratio", "ratio, true",
             "unlearnt", "belief", "factor");
  for (size_t r = 0; r < rows.size(); ++r) {
    fmt::print("{:<34}{:>16}{:>16}{:>16}{:>16}{:>12}\n", rows[r].name, shown(errors[r].ratio, 3),
               shown(errors[r].true_one, 3), shown(errors[r].unlearnt, 3),
               shown(errors[r].learnt, 3), shown(errors[r].factor, 1));
  }
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
