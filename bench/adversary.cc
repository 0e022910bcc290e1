// An adversary of `auto` (after PISA; Coleman, Krishnamachari 2024): simulated annealing over small
// problems, looking for the one on which `auto` is worst compared with the best single heuristic.
// The result is then evaluated again: `auto` with one second of wall clock, on 1,000 held-out
// scenarios, in pairs.
//
//   adversary [seconds] [seed]      prints one JSON object; exit code 1 if auto loses more than 1 %

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tutti/base/parallel.h"
#include "tutti/base/random.h"
#include "tutti/graph/builder.h"
#include "tutti/policy/registry.h"
#include "tutti/search/auto.h"

namespace tutti {
namespace {

constexpr double kNoise = 0.1;
constexpr uint64_t kFreshSeeds = uint64_t{1} << 40;

// A problem as numbers that can be changed one by one.
struct Instance {
  std::vector<double> flops;               // by op
  std::vector<double> bytes;               // by op
  std::vector<std::vector<int>> operands;  // by op, earlier ops only
  std::vector<double> speed;               // by device
  double bandwidth = 1;                    // GB/s over one shared switch
};

Instance random_instance(Rng& rng) {
  Instance instance;
  const auto ops = static_cast<int>(6 + rng.below(20));
  for (int i = 0; i < ops; ++i) {
    instance.flops.push_back(1e9 * (0.1 + rng.uniform()));
    instance.bytes.push_back(1e6 * (0.1 + rng.uniform()));
    std::vector<int> operands;
    for (int j = 0; j < i; ++j) {
      if (rng.uniform() < 2.0 / ops) operands.push_back(j);
    }
    instance.operands.push_back(operands);
  }
  const auto devices = 2 + rng.below(3);
  for (uint64_t i = 0; i < devices; ++i) instance.speed.push_back(0.5 + rng.uniform());
  instance.bandwidth = std::pow(10.0, 2 * rng.uniform() - 1);
  return instance;
}

Instance changed(Instance instance, Rng& rng) {
  const size_t op = rng.below(instance.flops.size());
  const double factor = std::pow(4.0, 2 * rng.uniform() - 1);
  switch (rng.below(5)) {
    case 0:
      instance.flops[op] = std::clamp(instance.flops[op] * factor, 1e7, 1e10);
      break;
    case 1:
      instance.bytes[op] = std::clamp(instance.bytes[op] * factor, 1e3, 1e8);
      break;
    case 2: {
      const size_t device = rng.below(instance.speed.size());
      instance.speed[device] = std::clamp(instance.speed[device] * factor, 0.1, 10.0);
      break;
    }
    case 3:
      instance.bandwidth = std::clamp(instance.bandwidth * factor, 0.01, 100.0);
      break;
    default:
      if (op == 0) break;
      auto& operands = instance.operands[op];
      const auto other = static_cast<int>(rng.below(op));
      const auto found = std::find(operands.begin(), operands.end(), other);
      if (found != operands.end()) {
        operands.erase(found);
      } else {
        operands.push_back(other);
      }
  }
  return instance;
}

Graph graph_of(const Instance& instance) {
  GraphBuilder builder("instance");
  std::vector<ValueId> made;
  for (size_t i = 0; i < instance.flops.size(); ++i) {
    std::vector<ValueId> operands;
    for (const int from : instance.operands[i]) operands.push_back(made[static_cast<size_t>(from)]);
    const ValueSpec out{.bytes = std::llround(instance.bytes[i])};
    const std::string name = "op" + std::to_string(i);
    const OpId op = builder.add_op({.name = name,
                                    .kind = "k",
                                    .operands = operands,
                                    .outputs = std::span(&out, 1),
                                    .flops = instance.flops[i]});
    made.push_back(*builder.outputs(op).begin());
  }
  return std::move(builder).build().value();
}

Machine machine_of(const Instance& instance) {
  MachineSpec spec;
  spec.name = "instance";
  spec.switches.push_back({.name = "net"});
  for (size_t i = 0; i < instance.speed.size(); ++i) {
    MachineSpec::DeviceSpec device;
    device.device.name = "d" + std::to_string(i);
    device.device.kind = "d" + std::to_string(i);
    device.device.flops_per_s = 1e12 * instance.speed[i];
    spec.devices.push_back(device);
    MachineSpec::LinkSpec link;
    link.name = "l" + std::to_string(i);
    link.ends[0] = device.device.name;
    link.ends[1] = "net";
    link.bytes_per_s = 1e9 * instance.bandwidth;
    spec.links.push_back(link);
  }
  return Machine::build(spec).value();
}

// Calls `use` with the problem of the instance.
template <class Use>
auto with_problem(const Instance& instance, const Use& use) {
  CostSpec spec;
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = kNoise};
  spec.transfer_noise = spec.run_time_noise;
  return use(Problem::make(graph_of(instance), machine_of(instance), spec).value());
}

struct Verdict {
  double ratio = 0;         // auto / best heuristic, means over the scenarios
  double half_width = 0;    // of its 95 % interval, by pairs
  std::string heuristic{};  // the best one
};

Verdict judge(const Problem& problem, const Budget& budget, int scenarios, uint64_t seed) {
  AutoSettings settings;
  settings.model.scenarios.count = 8;
  settings.model.scenarios.seed = seed;
  settings.budget = budget;
  settings.seed = seed;
  const Plan plan = plan_auto(problem, settings).value().plan;
  SearchModel fresh;
  fresh.scenarios = {.seed = kFreshSeeds + seed * 1000, .count = scenarios};
  Evaluator evaluator(problem, fresh);
  const double own = evaluator.cost(plan);
  const std::vector<double> own_runs(evaluator.makespans().begin(), evaluator.makespans().end());
  Verdict verdict;
  for (const PolicyEntry& entry : policy_registry()) {
    const Result<Plan> rival = make_plan(entry, problem, {}, seed);
    if (!rival) continue;
    const double cost = evaluator.cost(*rival);
    if (cost == kNoPlan || own / cost <= verdict.ratio) continue;
    verdict.ratio = own / cost;
    verdict.heuristic = entry.name;
    double mean = 0;
    double squares = 0;
    for (size_t i = 0; i < own_runs.size(); ++i) {
      const double difference = own_runs[i] - evaluator.makespans()[i];
      mean += difference / scenarios;
      squares += difference * difference / scenarios;
    }
    verdict.half_width = 1.96 * std::sqrt((squares - mean * mean) / scenarios) / cost;
  }
  return verdict;
}

struct Hunt {
  Instance worst;
  double ratio = 0;
  int64_t tried = 0;
};

Hunt hunt(double seconds, Rng rng) {
  const Budget quick{.wall_clock = {}, .evaluations = 6000};
  const auto begin = std::chrono::steady_clock::now();
  const auto share = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() /
           seconds;
  };
  Hunt hunt;
  Instance now = random_instance(rng);
  double now_ratio = 0;
  for (double spent = 0; spent < 1; spent = share()) {
    // Restart now and then: there are many local optima.
    Instance next = rng.below(50) == 0 ? random_instance(rng) : changed(now, rng);
    const double ratio = with_problem(next, [&](const Problem& problem) {
      return judge(problem, quick, 200, 1 + rng.below(1000)).ratio;
    });
    ++hunt.tried;
    if (ratio > hunt.ratio) {
      hunt.ratio = ratio;
      hunt.worst = next;
    }
    const double temperature = 0.02 * (1 - spent);
    if (ratio >= now_ratio || rng.uniform() < std::exp((ratio - now_ratio) / temperature)) {
      now = std::move(next);
      now_ratio = ratio;
    }
  }
  return hunt;
}

int run(double seconds, uint64_t seed) {
  const int threads = usable_cores();
  std::vector<Hunt> hunts(static_cast<size_t>(threads));
  parallel_for(threads, threads, [&](int index, int) {
    hunts[static_cast<size_t>(index)] =
        hunt(seconds, Rng(seed).split(static_cast<uint64_t>(index)));
  });
  int64_t tried = 0;
  Verdict worst;
  double hunted = 0;
  for (const Hunt& found : hunts) {
    tried += found.tried;
    hunted = std::max(hunted, found.ratio);
    const Verdict verdict = with_problem(found.worst, [&](const Problem& problem) {
      return judge(problem, {.wall_clock = std::chrono::milliseconds(1000), .evaluations = {}},
                   1000, 77);
    });
    if (verdict.ratio > worst.ratio) worst = verdict;
  }
  fmt::print(
      "{{\"problems_tried\":{},\"worst_ratio_while_hunting\":{:.4f},\"worst_ratio\":{:.4f},"
      "\"half_width\":{:.4f},\"against\":\"{}\",\"seconds\":{},\"seed\":{},\"threads\":{}}}\n",
      tried, hunted, worst.ratio, worst.half_width, worst.heuristic, seconds, seed, threads);
  // A loss above 1 % that is significant over the scenarios.
  return worst.ratio > 1.01 && worst.ratio - worst.half_width > 1 ? 1 : 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 60;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return tutti::run(seconds, seed);
}
