// How good a trained policy is on problems it has never seen: its greedy plan and the best of 64
// samples compared with HEFT, contention-aware earliest finish, HEFT with 64 perturbed priorities,
// and the best plan that a search finds. studies/doppler/protocol.md says how plans are judged.
//
//   zero_shot LIST [NETWORK] [SEARCH_EVALUATIONS]
//
// LIST has a line for each problem: machine, family, size, ratio, graph file.
// studies/doppler/scripts/zero-shot makes it. One JSON line for each problem goes to standard
// output, the summary to standard error.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "studies/doppler/bench/listed.h"
#include "studies/doppler/samples.h"
#include "studies/studies.h"
#include "tutti/base/parallel.h"
#include "tutti/policy/doppler/planner.h"
#include "tutti/policy/registry.h"
#include "tutti/search/auto.h"
#include "tutti/search/walk/random_keys.h"

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
  double guarded = kNoPlan;  // what `doppler` gives
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
  const auto made = listed_problem(task.listed);
  if (!made) return false;
  const Problem& problem = *made;
  const SearchModel planning = planning_scenarios();
  Evaluator judge(problem, fresh_scenarios());
  const auto heft = make_plan(**find_policy("heft"), problem, {}, 1);
  task.heft = cost_of(heft, judge);
  const auto contention = make_plan(**find_policy("contention_eft"), problem, {}, 1);
  task.contention = cost_of(contention, judge);
  if (task.heft != kNoPlan) task.keys = judge.cost(perturbed(problem, planning, *heft));
  task.greedy = cost_of(plan_greedily(model, problem), judge);
  task.guarded = cost_of(plan_guarded(model, problem), judge);
  const CostedPlan drawn = best_of_samples(model, problem, planning, kSamples, Rng(1), 1);
  if (drawn.cost != kNoPlan) task.samples = judge.cost(drawn.plan);
  task.best =
      std::min({task.heft, task.contention, task.keys, task.greedy, task.guarded, task.samples});
  AutoSettings settings;
  settings.model = planning;
  settings.budget.evaluations = evaluations;
  if (const auto found = plan_auto(problem, settings); found) {
    task.best = std::min(task.best, judge.cost(found->plan));
  }
  return true;
}

template <class Measure>
RatioInterval mean_over(const std::vector<const Task*>& tasks, Measure measure) {
  std::map<std::string, std::vector<double>> families;
  for (const Task* task : tasks) families[task->listed.family].push_back(measure(*task));
  return by_family(families);
}

// How a kind of plan compares with the others: geometric means of ratios.
void compare(const char* name, double Task::*own, const std::vector<const Task*>& tasks) {
  fmt::print(stderr, "  {}\n", name);
  const auto ratio = [&](const char* name, double Task::*other) {
    const RatioInterval found =
        mean_over(tasks, [&](const Task& task) { return std::log(task.*own / task.*other); });
    fmt::print(stderr, "    over {}: {:.4f} [{:.4f}, {:.4f}]\n", name, std::exp(found.mean),
               std::exp(found.low), std::exp(found.high));
  };
  ratio("HEFT", &Task::heft);
  ratio("contention-aware earliest finish", &Task::contention);
  ratio("HEFT with 64 perturbed priorities", &Task::keys);
  ratio("the best known", &Task::best);
  for (const double tolerance : {0.0, 0.001, 0.01}) {
    const RatioInterval found = mean_over(tasks, [&](const Task& task) {
      return task.*own <= task.heft * (1 + tolerance) * 1.000001 ? 1.0 : 0.0;
    });
    fmt::print(stderr, "    no worse than HEFT{}: {:.1f} % [{:.1f}, {:.1f}]\n",
               tolerance > 0 ? fmt::format(" by {} %", 100 * tolerance) : "", 100 * found.mean,
               100 * found.low, 100 * found.high);
  }
  // Of all that HEFT is away from the best known, in logarithms; and as a mean of shares where
  // there is more than a percent to share.
  double distance = 0;
  double closed = 0;
  std::vector<const Task*> apart;
  for (const Task* task : tasks) {
    distance += std::log(task->heft / task->best);
    closed += std::log(task->heft / task->*own);
    if (task->heft > task->best * 1.01) apart.push_back(task);
  }
  if (apart.empty()) return;
  const RatioInterval shares = mean_over(
      apart, [&](const Task& task) { return (task.heft - task.*own) / (task.heft - task.best); });
  fmt::print(stderr,
             "    closes {:.1f} % of HEFT's distance to the best known in all; on average over the "
             "{} problems with more than 1 %: {:.1f} % [{:.1f}, {:.1f}]\n",
             100 * closed / distance, apart.size(), 100 * shares.mean, 100 * shares.low,
             100 * shares.high);
}

void summarise(const char* title, const std::vector<const Task*>& tasks) {
  if (tasks.empty()) return;
  fmt::print(stderr, "\n{} ({} problems)\n", title, tasks.size());
  compare("greedy plan", &Task::greedy, tasks);
  compare("`doppler`: greedy plan, or earliest finish's by estimate", &Task::guarded, tasks);
  compare("best of 64 samples", &Task::samples, tasks);
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
    if (std::max({task.heft, task.contention, task.keys, task.greedy, task.guarded,
                  task.samples}) == kNoPlan) {
      fmt::print(stderr, "{} on {}: left out, {}\n", task.listed.path, task.listed.machine,
                 task.heft == kNoPlan ? "HEFT's plan does not fit into memory"
                                      : "one of the plans does not fit into memory");
      continue;
    }
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
  tutti::add_studies();
  if (argc < 2) {
    std::fprintf(stderr, "usage: zero_shot LIST [NETWORK|general] [SEARCH_EVALUATIONS]\n");
    return 2;
  }
  return tutti::run_list(argc, argv);
}
