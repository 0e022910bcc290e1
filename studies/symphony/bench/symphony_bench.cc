// What Symphony's policies do with what they know, in simulation (docs/results/symphony.md); run by
// studies/symphony/scripts/results-symphony:
//
//   symphony_bench judge MODEL [READINGS [RUNS]]
//                                           slow-downs on unseen jobs, at each load, with and
//                                           without unknown load: a line of JSON for each
//   symphony_bench sees MODEL               how far off it is about what others use
//   symphony_bench rivals                   slow-downs of every decider without a network
//   symphony_bench levels FOLDER            the information levels, from the results in its folders
//   symphony_bench iterations FOLDER        updates until a loss is reached, from the logs there
//   symphony_bench ablations FOLDER         each ablation compared with the whole
//   symphony_bench latency MODEL            how long decisions take, by decisions of one look
//
// FOLDER has a folder NAME-SEED for each run, with result.jsonl (judge's lines) and log.jsonl.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tutti/base/check.h"
#include "tutti/base/statistics.h"
#include "tutti/graph/make/job.h"
#include "tutti/policy/registry.h"
#include "tutti/train/symphony/world.h"

namespace tutti {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kEpisodes = 24;  // of each condition, the same for all models
constexpr int kTestJobs = 60;  // distinct ones
constexpr uint64_t kTestSeeds = 0xbe7c4;

std::string shown(const std::vector<double>& samples, int digits) {
  const Summary summary = summary_of(samples);
  return fmt::format("{:.{}f} ± {:.{}f}", summary.mean, digits, summary.half_interval, digits);
}

// The default world with held-out jobs.
struct Bench {
  OwnedSymphonyWorld study;
  JobList jobs;

  explicit Bench(int readings = 8) : study(default_symphony_world({.readings = readings})) {
    auto added = add_jobs(*study.cluster, make_jobs(JobSet::test, kTestJobs, 1));
    TUTTI_CHECK(added.has_value());
    jobs = std::move(*added);
    study.world.billed_jobs_per_s = billed_jobs_per_s(*study.cluster, jobs);
  }

  JobScenario scenario(double load, bool unknown, uint64_t episode) const {
    Rng rng = Rng(kTestSeeds).split(episode);
    return draw_scenario(study.world, jobs, load, unknown, rng.next() >> 1);
  }
};

// "untrained:KNOWLEDGE" is the rule that training starts from.
Result<TensorFile> read_model(const std::string& path, const Bench& bench) {
  constexpr std::string_view kUntrained = "untrained:";
  if (path.starts_with(kUntrained)) {
    const auto knowledge =
        parse_information_level(std::string_view(path).substr(kUntrained.size()));
    if (!knowledge) return invalid_input(path + ": there is no such knowledge");
    return SymphonyModel::fresh({.knowledge = *knowledge}, *bench.study.cluster,
                                bench.study.world.options.counters, 1);
  }
  auto source = Source::open(path);
  if (!source) return source.error();
  return read_tensors(*source);
}

std::shared_ptr<const SymphonyModel> load_model(const std::string& path, const Bench& bench) {
  const auto file = read_model(path, bench);
  if (file) {
    auto model =
        SymphonyModel::load(*file, path, *bench.study.cluster, bench.study.world.options.counters);
    if (model) return *model;
    fmt::print(stderr, "{}\n", model.error().message);
  } else {
    fmt::print(stderr, "{}\n", file.error().message);
  }
  return nullptr;
}

// ---- judge

int judge(const std::string& path, int readings, int runs) {
  const Bench bench(readings);
  const auto model = load_model(path, bench);
  if (model == nullptr) return 2;
  for (const double load : bench.study.world.loads) {
    for (const bool unknown : {false, true}) {
      json line{{"load", load}, {"unknown", unknown}, {"slowdowns", json::array()}};
      for (int run = 0; run < runs; ++run) {
        line["slowdowns"].push_back(
            judged_slowdown(model, bench.scenario(load, unknown, static_cast<uint64_t>(run)), {}));
      }
      fmt::print("{}\n", line.dump());
      std::fflush(stdout);
    }
  }
  return 0;
}

// ---- sees

const char* kind_name(Resource::Kind kind) {
  constexpr const char* kNames[] = {"machine", "host",    "memory", "device",
                                    "core",    "channel", "cache"};
  return kNames[static_cast<int>(kind)];
}

// The use of each resource by others as the model estimates it, against the true one, while the
// rule that training starts from decides.
int show_sight(const std::string& path) {
  const Bench bench;
  const auto model = load_model(path, bench);
  const auto told = load_model("untrained:truth", bench);
  if (model == nullptr || told == nullptr) return 2;
  struct Errors {
    int64_t count = 0;
    double absolute = 0, signed_sum = 0, truth = 0;
  };
  std::map<std::string, Errors> by_kind;
  for (uint64_t episode = 0; episode < uint64_t{kEpisodes}; ++episode) {
    const JobScenario scenario = bench.scenario(0.6, true, episode);
    JobSimulator sim(*bench.study.cluster, scenario.options);
    sim.reset(scenario.arrivals, scenario.seed);
    const SymphonyOptions options{.seed = episode, .truth = [&sim](const Resource& resource) {
                                    return sim.utilisation(resource);
                                  }};
    SymphonyPolicyState policy(model, options);
    SymphonyPolicyState judge(told, options);
    int64_t epoch = -1;
    while (!sim.done()) {
      const DecisionFeatures seen = policy.score(sim.state()).features;
      const ScoredDecision& true_one = judge.score(sim.state());
      if (sim.state().epoch != epoch) {
        epoch = sim.state().epoch;
        for (int v = 0; v < model->topology().size(); ++v) {
          const auto at = static_cast<size_t>(v);
          const auto others = [&](const DecisionFeatures& features) {
            return std::max(0.0F,
                            features.seen[at * kVertexSeen + kUse] - features.own_before[at]) +
                   features.unseen[at];
          };
          const double truth = others(true_one.features);
          const double error = others(seen) - truth;
          Errors& errors = by_kind[kind_name(model->topology().resource(v).kind)];
          ++errors.count;
          errors.absolute += std::abs(error);
          errors.signed_sum += error;
          errors.truth += truth;
        }
      }
      const Action action = true_one.best_action();
      TUTTI_CHECK(sim.step(action).has_value());
    }
  }
  fmt::print("{:<10}{:>12}{:>12}{:>12}\n", "kind", "others", "error", "bias");
  for (const auto& [kind, errors] : by_kind) {
    const auto count = static_cast<double>(errors.count);
    fmt::print("{:<10}{:>12.4f}{:>12.4f}{:>12.4f}\n", kind, errors.truth / count,
               errors.absolute / count, errors.signed_sum / count);
  }
  return 0;
}

// With the settings that the product ships.
int judge_rivals() {
  const Bench bench;
  for (const double load : bench.study.world.loads) {
    for (const bool unknown : {false, true}) {
      for (const PolicyEntry& entry : policy_registry()) {
        if (!entry.make_decider) continue;
        std::vector<double> slowdowns;
        for (uint64_t episode = 0; episode < uint64_t{kEpisodes}; ++episode) {
          const JobScenario scenario = bench.scenario(load, unknown, episode);
          JobSimulator sim(*bench.study.cluster, scenario.options);
          const auto decider = entry.tuned_decider();
          const auto run = run_jobs(sim, scenario.arrivals, *decider, scenario.seed);
          TUTTI_CHECK(run.has_value());
          double sum = 0;
          for (const JobRecord& record : run->jobs) sum += record.slowdown();
          slowdowns.push_back(sum / static_cast<double>(run->jobs.size()));
        }
        fmt::print("load {} {:<20}{:<16}{}\n", load, unknown ? "with unknown load" : "", entry.name,
                   shown(slowdowns, 3));
        std::fflush(stdout);
      }
    }
  }
  return 0;
}

// ---- tables

struct Condition {
  double load = 0;
  bool unknown = false;
  friend auto operator<=>(const Condition&, const Condition&) = default;
};

// By name of a run without its seed: the mean slow-down of each seed, by condition.
using Results = std::map<std::string, std::map<Condition, std::vector<double>>>;

std::string name_without_seed(const std::string& folder) {
  return folder.substr(0, folder.rfind('-'));
}

std::vector<fs::path> runs_in(const std::string& folder) {
  std::vector<fs::path> runs;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) runs.push_back(entry.path());
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

Results read_results(const std::string& folder) {
  Results results;
  for (const fs::path& run : runs_in(folder)) {
    std::ifstream file(run / "result.jsonl");
    for (std::string line; std::getline(file, line);) {
      const json read = json::parse(line);
      double sum = 0;
      for (const double slowdown : read["slowdowns"]) sum += slowdown;
      results[name_without_seed(run.filename().string())][{read["load"], read["unknown"]}]
          .push_back(sum / static_cast<double>(read["slowdowns"].size()));
    }
  }
  return results;
}

const std::vector<std::string> kLevels = {"none", "counters", "counters-topology", "belief",
                                          "truth"};

// By seed: how much lower than without counters, as a share.
std::vector<double> gains(const std::vector<double>& none, const std::vector<double>& level) {
  std::vector<double> list;
  for (size_t s = 0; s < std::min(none.size(), level.size()); ++s)
    list.push_back(100 * (none[s] - level[s]) / none[s]);
  return list;
}

int show_levels(const std::string& folder) {
  Results results = read_results(folder);
  fmt::print("{:<22}", "load, unknown load");
  for (const std::string& level : kLevels) fmt::print("{:>20}", level);
  fmt::print("{:>18}{:>18}{:>10}{:>20}\n", "belief gains %", "truth gains %", "closed",
             "more than half by");
  for (const auto& [condition, unused] : results["none"]) {
    fmt::print("{:<22}", fmt::format("{}, {}", condition.load, condition.unknown ? "yes" : "no"));
    std::map<std::string, double> mean;
    for (const std::string& level : kLevels) {
      const std::vector<double>& seeds = results[level][condition];
      if (seeds.empty()) {
        fmt::print("{:>20}", "-");
        continue;
      }
      mean[level] = summary_of(seeds).mean;
      fmt::print("{:>20}", shown(seeds, 3));
    }
    const double gap = mean["none"] - mean["truth"];
    const std::vector<double>& none = results["none"][condition];
    const std::vector<double>& belief = results["belief"][condition];
    const std::vector<double>& truth = results["truth"][condition];
    std::vector<double> beyond_half;  // by seed: what it closes more than half of the difference
    for (size_t s = 0; s < std::min({none.size(), belief.size(), truth.size()}); ++s)
      beyond_half.push_back((none[s] - belief[s]) - (none[s] - truth[s]) / 2);
    fmt::print("{:>18}{:>18}{:>8.0f} %{:>20}\n", shown(gains(none, belief), 1),
               shown(gains(none, truth), 1), 100 * (mean["none"] - mean["belief"]) / gap,
               shown(beyond_half, 3));
  }
  return 0;
}

int show_ablations(const std::string& folder) {
  Results results = read_results(folder);
  const auto& whole = results["belief"];
  fmt::print("mean slow-down over all conditions, over that of the whole with the same seed\n");
  for (const auto& [name, conditions] : results) {
    std::vector<double> ratios;
    for (const auto& [condition, seeds] : conditions) {
      const auto found = whole.find(condition);
      if (found == whole.end()) continue;
      ratios.resize(std::max(ratios.size(), seeds.size()), 0.0);
      for (size_t s = 0; s < std::min(seeds.size(), found->second.size()); ++s)
        ratios[s] += std::log(seeds[s] / found->second[s]) / static_cast<double>(conditions.size());
    }
    for (double& ratio : ratios) ratio = std::exp(ratio);
    if (!ratios.empty()) fmt::print("{:<28}{:>18}\n", name, shown(ratios, 4));
  }
  return 0;
}

// The ratio to the rule at each judgement: (episodes, ratio).
std::vector<std::pair<double, double>> curve_of(const fs::path& run) {
  std::vector<std::pair<double, double>> curve;
  std::ifstream log(run / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const json read = json::parse(line);
    if (read.contains("ratio")) curve.emplace_back(read["episodes"], read["ratio"]);
  }
  return curve;
}

// Episodes until the ratio is that low: a straight line between two judgements; the first if it is
// that low there already, the last if it never is. Requires a judgement.
double reached(const std::vector<std::pair<double, double>>& curve, double target) {
  for (size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].second > target) continue;
    if (i == 0) return curve[0].first;
    const auto& [episodes, ratio] = curve[i - 1];
    return episodes + (ratio - target) / (ratio - curve[i].second) * (curve[i].first - episodes);
  }
  return curve.back().first;
}

int show_iterations(const std::string& folder) {
  std::map<std::string, std::vector<std::vector<std::pair<double, double>>>> curves;
  for (const fs::path& run : runs_in(folder)) {
    auto curve = curve_of(run);
    if (!curve.empty())
      curves[name_without_seed(run.filename().string())].push_back(std::move(curve));
  }
  fmt::print("episodes until the slow-down over the rule's is as low as the last of 'counters'\n");
  double target = 0;
  for (const auto& curve : curves["counters"])
    target += curve.back().second / static_cast<double>(curves["counters"].size());
  fmt::print("that is {:.4f}\n", target);
  for (const auto& [name, all] : curves) {
    std::vector<double> counts;
    std::vector<double> lasts;
    for (const auto& curve : all) {
      counts.push_back(reached(curve, target));
      lasts.push_back(curve.back().second);
    }
    fmt::print("{:<22}{:>20} episodes, at last {}\n", name, shown(counts, 0), shown(lasts, 4));
  }
  return 0;
}

// ---- latency

double quantile(std::vector<double>& sorted, double share) {
  const auto place = static_cast<size_t>(share * static_cast<double>(sorted.size() - 1));
  return sorted[place];
}

int show_latency(const std::string& path) {
  const Bench bench;
  const auto model = load_model(path, bench);
  if (model == nullptr) return 2;
  fmt::print("{:>6}{:>10}{:>10}{:>10}{:>10}{:>10}{:>12}{:>14}{:>16}\n", "batch", "median us", "p90",
             "p99", "p99.9", "most", "slow-down", "completion ms", "with deciding");
  for (int batch = 1; batch <= 2048; batch *= 2) {
    std::vector<double> times;
    double slowdown = 0;
    double completion = 0;
    double deciding = 0;
    int jobs = 0;
    for (uint64_t episode = 0; episode < 6; ++episode) {
      const JobScenario scenario = bench.scenario(0.9, true, episode);
      JobSimulator sim(*bench.study.cluster, scenario.options);
      sim.reset(scenario.arrivals, scenario.seed);
      SymphonyPolicyState policy(model, {.seed = episode, .batch = batch});
      while (!sim.done()) {
        const auto begin = std::chrono::steady_clock::now();
        const ScoredDecision& considered = policy.score(sim.state());
        const Action action = considered.best_action();
        times.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
                .count());
        deciding += times.back();
        TUTTI_CHECK(sim.step(action).has_value());
      }
      for (const JobRecord& record : sim.jobs()) {
        slowdown += record.slowdown();
        completion += static_cast<double>(record.completion().count()) * 1e-6;
        ++jobs;
      }
    }
    std::sort(times.begin(), times.end());
    fmt::print("{:>6}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>10.1f}{:>12.3f}{:>14.2f}{:>16.2f}\n",
               batch, quantile(times, 0.5), quantile(times, 0.9), quantile(times, 0.99),
               quantile(times, 0.999), times.back(), slowdown / jobs, completion / jobs,
               completion / jobs + deciding * 1e-3 / jobs);
    std::fflush(stdout);
  }
  return 0;
}

int refuse(const std::string& sentence) {
  fmt::print(stderr, "symphony_bench: {}\n", sentence);
  return 2;
}

int run(const std::vector<std::string>& words) {
  const std::string what = words.empty() ? "" : words[0];
  if (words.size() >= 2 && words.size() <= 4 && what == "judge") {
    int counts[2] = {8, kEpisodes};
    for (size_t i = 2; i < words.size(); ++i) {
      const char* const end = words[i].data() + words[i].size();
      int& count = counts[i - 2];
      const auto [rest, code] = std::from_chars(words[i].data(), end, count);
      if (code != std::errc{} || rest != end || count < 1 || count > 1000)
        return refuse("READINGS and RUNS must be whole numbers from 1 to 1000");
    }
    return judge(words[1], counts[0], counts[1]);
  }
  if (words.size() == 1 && what == "rivals") return judge_rivals();
  if (words.size() == 2) {
    const bool of_folder = what == "levels" || what == "iterations" || what == "ablations";
    if (of_folder && !fs::is_directory(words[1])) {
      return refuse(
          words[1] +
          ": there is no such folder; studies/symphony/scripts/results-symphony makes it");
    }
    if (what == "levels") return show_levels(words[1]);
    if (what == "iterations") return show_iterations(words[1]);
    if (what == "ablations") return show_ablations(words[1]);
    if (what == "latency") return show_latency(words[1]);
    if (what == "sees") return show_sight(words[1]);
  }
  std::fprintf(stderr,
               "symphony_bench judge MODEL [READINGS] | sees MODEL | rivals | levels FOLDER | "
               "iterations FOLDER | "
               "ablations FOLDER | latency MODEL\n");
  return 2;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  try {
    return tutti::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {  // a folder or a line of JSON that cannot be read
    return tutti::refuse(error.what());
  }
}
