// How good a trained policy is on problems it has never seen: its greedy plan and the best of 64
// samples beside HEFT, contention-aware earliest finish, HEFT with 64 perturbed priorities, and the
// best plan that a search finds. docs/protocol.md says how plans are judged.
//
//   zero_shot LIST [NETWORK] [SEARCH_EVALUATIONS]
//
// LIST has a line for each problem: machine, family, size, ratio, graph file. scripts/zero-shot
// makes it. One JSON line for each problem goes to standard output, the summary to standard error.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tutti/base/parallel.h"
#include "tutti/graph/import/import.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/doppler/general.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/registry.h"
#include "tutti/search/auto.h"
#include "tutti/search/random_keys.h"
#include "tutti/search/samples.h"

namespace tutti {
namespace {

constexpr double kNoise = 0.1;
constexpr int kSamples = 64;
constexpr int kJudging = 20;
constexpr uint64_t kFreshSeeds = uint64_t{1} << 40;
constexpr int kBootstraps = 10'000;

struct Task {
  std::string machine, family, size, ratio, path;
  // Mean makespans on fresh scenarios.
  double heft = kNoPlan;
  double contention = kNoPlan;
  double keys = kNoPlan;
  double greedy = kNoPlan;
  double samples = kNoPlan;
  double best = kNoPlan;
};

std::vector<Task> read_list(const char* path) {
  std::vector<Task> tasks;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Task task;
    if (words >> task.machine >> task.family >> task.size >> task.ratio >> task.path) {
      tasks.push_back(task);
    }
  }
  return tasks;
}

double cost_of(const Result<Plan>& plan, Evaluator& judge) {
  return plan ? judge.cost(*plan) : kNoPlan;
}

// HEFT with its priorities perturbed, so many times; the best on the scenarios of planning.
Plan perturbed(const Problem& problem, const SearchModel& planning, const Plan& heft) {
  Evaluator evaluator(problem, planning);
  Walk walk;
  walk.start_from(heft, evaluator.cost(heft));
  Rng rng(1);
  RandomKeys(problem).improve(walk, evaluator,
                              {.evaluations = int64_t{kSamples} * planning.scenarios.count},
                              Progress({}), rng);
  return walk.best;
}

bool run(Task& task, const DopplerModel& model, int64_t evaluations) {
  const auto imported = load_graph(task.path);
  auto machine = make_preset(task.machine);
  if (!imported || !machine) return false;
  CostSpec spec;
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = kNoise};
  spec.transfer_noise = spec.run_time_noise;
  const auto costs = Costs::build(imported->graph, *machine, spec);
  if (!costs) return false;
  const auto problem = Problem::make(imported->graph, *machine, *costs);
  if (!problem) return false;
  SearchModel planning;
  planning.scenarios.count = 4;
  SearchModel fresh;
  fresh.scenarios = {.seed = kFreshSeeds, .count = kJudging};
  Evaluator judge(*problem, fresh);
  const auto heft = make_plan(**find_policy("heft"), *problem, {}, 1);
  task.heft = cost_of(heft, judge);
  task.contention = cost_of(make_plan(**find_policy("contention_eft"), *problem, {}, 1), judge);
  if (heft) task.keys = judge.cost(perturbed(*problem, planning, *heft));
  task.greedy = cost_of(plan_greedily(model, *problem), judge);
  task.samples = judge.cost(best_of_samples(model, *problem, planning, kSamples, Rng(1), 1).plan);
  task.best = std::min({task.heft, task.contention, task.keys, task.greedy, task.samples});
  AutoSettings settings;
  settings.model = planning;
  settings.budget.evaluations = evaluations;
  if (const auto found = plan_auto(*problem, settings); found) {
    task.best = std::min(task.best, judge.cost(found->plan));
  }
  return true;
}

struct Interval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// The mean over problems, and its 95 % interval: families drawn anew, and problems within them.
template <class Measure>
Interval by_family(const std::vector<const Task*>& tasks, Measure measure) {
  std::map<std::string, std::vector<double>> families;
  Interval result;
  for (const Task* task : tasks) {
    const double value = measure(*task);
    families[task->family].push_back(value);
    result.mean += value / static_cast<double>(tasks.size());
  }
  std::vector<std::vector<double>> groups;
  for (auto& [name, values] : families) groups.push_back(values);
  std::vector<double> means;
  Rng rng(1);
  for (int i = 0; i < kBootstraps; ++i) {
    double sum = 0;
    double count = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
      const auto& group = groups[rng.below(groups.size())];
      for (size_t k = 0; k < group.size(); ++k) sum += group[rng.below(group.size())];
      count += static_cast<double>(group.size());
    }
    means.push_back(sum / count);
  }
  std::sort(means.begin(), means.end());
  result.low = means[kBootstraps / 40];
  result.high = means[kBootstraps - 1 - kBootstraps / 40];
  return result;
}

void summarise(const char* title, const std::vector<const Task*>& tasks) {
  if (tasks.empty()) return;
  fmt::print(stderr, "\n{} ({} problems)\n", title, tasks.size());
  const auto ratio = [&](const char* name, auto other) {
    const Interval found =
        by_family(tasks, [&](const Task& task) { return std::log(task.greedy / other(task)); });
    fmt::print(stderr, "  greedy over {}: {:.4f} [{:.4f}, {:.4f}]\n", name, std::exp(found.mean),
               std::exp(found.low), std::exp(found.high));
  };
  ratio("HEFT", [](const Task& task) { return task.heft; });
  ratio("contention-aware earliest finish", [](const Task& task) { return task.contention; });
  ratio("HEFT with 64 perturbed priorities", [](const Task& task) { return task.keys; });
  ratio("the best of 64 samples", [](const Task& task) { return task.samples; });
  ratio("the best known", [](const Task& task) { return task.best; });
  const Interval no_worse = by_family(
      tasks, [](const Task& task) { return task.greedy <= task.heft * 1.000001 ? 1.0 : 0.0; });
  fmt::print(stderr, "  no worse than HEFT: {:.1f} % [{:.1f}, {:.1f}]\n", 100 * no_worse.mean,
             100 * no_worse.low, 100 * no_worse.high);
  std::vector<const Task*> apart;
  for (const Task* task : tasks) {
    if (task->heft > task->best * 1.001) apart.push_back(task);
  }
  if (apart.empty()) return;
  const Interval closed = by_family(
      apart, [](const Task& task) { return (task.heft - task.greedy) / (task.heft - task.best); });
  fmt::print(stderr,
             "  share of HEFT's distance to the best known that is closed: {:.1f} % "
             "[{:.1f}, {:.1f}] ({} problems)\n",
             100 * closed.mean, 100 * closed.low, 100 * closed.high, apart.size());
}

int run_list(int argc, char** argv) {
  std::vector<Task> tasks = read_list(argv[1]);
  DopplerModel model = general_model();
  if (argc > 2 && std::string(argv[2]) != "general") {
    auto source = Source::open(argv[2]);
    auto file = source ? read_tensors(*source) : Result<TensorFile>(source.error());
    auto loaded = file ? DopplerModel::load(*file, argv[2]) : Result<DopplerModel>(file.error());
    if (!loaded) {
      fmt::print(stderr, "zero_shot: {}\n", loaded.error().message);
      return 2;
    }
    model = std::move(*loaded);
  }
  const int64_t evaluations = argc > 3 ? std::atoll(argv[3]) : 20'000;
  std::vector<uint8_t> good(tasks.size(), 0);
  parallel_for(static_cast<int>(tasks.size()), usable_cores(), [&](int index, int) {
    const auto at = static_cast<size_t>(index);
    good[at] = run(tasks[at], model, evaluations) ? 1 : 0;
  });
  std::vector<const Task*> all, headroom, controls;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    if (good[i] == 0) {
      fmt::print(stderr, "zero_shot: {} on {} could not be planned\n", task.path, task.machine);
      continue;
    }
    fmt::print(
        "{{\"machine\":\"{}\",\"family\":\"{}\",\"size\":\"{}\",\"ratio\":{},\"heft\":{:.0f},"
        "\"contention_eft\":{:.0f},\"perturbed_64\":{:.0f},\"greedy\":{:.0f},"
        "\"samples_64\":{:.0f},\"best\":{:.0f}}}\n",
        task.machine, task.family, task.size, task.ratio, task.heft, task.contention, task.keys,
        task.greedy, task.samples, task.best);
    all.push_back(&task);
    (task.heft > 1.1 * task.best ? headroom : controls).push_back(&task);
  }
  summarise("all", all);
  summarise("HEFT more than 10 % above the best known", headroom);
  summarise("controls: at most 10 %", controls);
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: zero_shot LIST [NETWORK|general] [SEARCH_EVALUATIONS]\n");
    return 2;
  }
  return tutti::run_list(argc, argv);
}
