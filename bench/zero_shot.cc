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
#include <map>
#include <string>
#include <vector>

#include "bench/listed.h"
#include "tutti/base/parallel.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/registry.h"
#include "tutti/search/auto.h"
#include "tutti/search/random_keys.h"
#include "tutti/search/samples.h"

namespace tutti {
namespace {

constexpr int kSamples = 64;

struct Task {
  Listed listed;
  // Mean makespans on fresh scenarios.
  double heft = kNoPlan;
  double contention = kNoPlan;
  double keys = kNoPlan;
  double greedy = kNoPlan;
  double guarded = kNoPlan;  // the greedy plan or contention-aware earliest finish's, by estimate
  double samples = kNoPlan;
  double best = kNoPlan;
};

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
  const auto made = ListedProblem::make(task.listed);
  if (made == nullptr) return false;
  const Problem& problem = made->problem();
  const SearchModel planning = planning_scenarios();
  Evaluator judge(problem, fresh_scenarios());
  const auto heft = make_plan(**find_policy("heft"), problem, {}, 1);
  task.heft = cost_of(heft, judge);
  const auto contention = make_plan(**find_policy("contention_eft"), problem, {}, 1);
  task.contention = cost_of(contention, judge);
  if (heft) task.keys = judge.cost(perturbed(problem, planning, *heft));
  const auto greedy = plan_greedily(model, problem);
  task.greedy = cost_of(greedy, judge);
  const bool fall_back =
      !greedy || (contention && contention->planned_makespan < greedy->planned_makespan);
  task.guarded = fall_back ? task.contention : task.greedy;
  task.samples = judge.cost(best_of_samples(model, problem, planning, kSamples, Rng(1), 1).plan);
  task.best = std::min({task.heft, task.contention, task.keys, task.greedy, task.samples});
  AutoSettings settings;
  settings.model = planning;
  settings.budget.evaluations = evaluations;
  if (const auto found = plan_auto(problem, settings); found) {
    task.best = std::min(task.best, judge.cost(found->plan));
  }
  return true;
}

template <class Measure>
Interval mean_over(const std::vector<const Task*>& tasks, Measure measure) {
  std::map<std::string, std::vector<double>> families;
  for (const Task* task : tasks) families[task->listed.family].push_back(measure(*task));
  return by_family(families);
}

void summarise(const char* title, const std::vector<const Task*>& tasks) {
  if (tasks.empty()) return;
  fmt::print(stderr, "\n{} ({} problems)\n", title, tasks.size());
  const auto ratio = [&](const char* name, auto other) {
    const Interval found =
        mean_over(tasks, [&](const Task& task) { return std::log(task.greedy / other(task)); });
    fmt::print(stderr, "  greedy over {}: {:.4f} [{:.4f}, {:.4f}]\n", name, std::exp(found.mean),
               std::exp(found.low), std::exp(found.high));
  };
  ratio("HEFT", [](const Task& task) { return task.heft; });
  ratio("contention-aware earliest finish", [](const Task& task) { return task.contention; });
  ratio("HEFT with 64 perturbed priorities", [](const Task& task) { return task.keys; });
  ratio("the best of 64 samples", [](const Task& task) { return task.samples; });
  ratio("the best known", [](const Task& task) { return task.best; });
  const Interval no_worse = mean_over(
      tasks, [](const Task& task) { return task.greedy <= task.heft * 1.000001 ? 1.0 : 0.0; });
  fmt::print(stderr, "  no worse than HEFT: {:.1f} % [{:.1f}, {:.1f}]\n", 100 * no_worse.mean,
             100 * no_worse.low, 100 * no_worse.high);
  std::vector<const Task*> apart;
  for (const Task* task : tasks) {
    if (task->heft > task->best * 1.001) apart.push_back(task);
  }
  if (apart.empty()) return;
  const Interval closed = mean_over(
      apart, [](const Task& task) { return (task.heft - task.greedy) / (task.heft - task.best); });
  fmt::print(stderr,
             "  share of HEFT's distance to the best known that is closed: {:.1f} % "
             "[{:.1f}, {:.1f}] ({} problems)\n",
             100 * closed.mean, 100 * closed.low, 100 * closed.high, apart.size());
}

int run_list(int argc, char** argv) {
  std::vector<Task> tasks;
  for (const Listed& listed : read_list(argv[1])) tasks.push_back({.listed = listed});
  const DopplerModel model = model_named(argc > 2 ? argv[2] : "general");
  const int64_t evaluations = argc > 3 ? std::atoll(argv[3]) : 20'000;
  std::vector<uint8_t> good(tasks.size(), 0);
  parallel_for(static_cast<int>(tasks.size()), usable_cores(), [&](int index, int) {
    const auto at = static_cast<size_t>(index);
    good[at] = run(tasks[at], model, evaluations) ? 1 : 0;
  });
  std::vector<const Task*> all, headroom, controls;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    if (good[i] == 0) continue;
    fmt::print(
        "{{\"machine\":\"{}\",\"family\":\"{}\",\"size\":\"{}\",\"ratio\":{},\"heft\":{:.0f},"
        "\"contention_eft\":{:.0f},\"perturbed_64\":{:.0f},\"greedy\":{:.0f},"
        "\"guarded\":{:.0f},\"samples_64\":{:.0f},\"best\":{:.0f}}}\n",
        task.listed.machine, task.listed.family, task.listed.size, task.listed.ratio, task.heft,
        task.contention, task.keys, task.greedy, task.guarded, task.samples, task.best);
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
