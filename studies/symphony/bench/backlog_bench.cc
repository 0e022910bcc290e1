// Deciders of arriving jobs against each other, as `tutti cluster` simulates them: for
// docs/results/backlog.md, by the protocol of studies/symphony/protocol.md.
//
//   backlog_bench judge [NAME=VALUE...] DECIDER... > runs.txt    a line for each run
//   backlog_bench table runs.txt                                 means and ratios by cell
//
// A decider is a name of `tutti policies`, with settings as in backlog_eft:3,0,1,0,1 or else with
// its own, or untrained_symphony. NAME=VALUE: jobs, seeds (1-10), loads (0.5,0.7,0.85), hidden
// (0,0.8), queue (0), set (test or validation).

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tutti/base/statistics.h"
#include "tutti/graph/make/job.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/policy/symphony/decider.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/runtime/sim/jobs/saturation.h"
#include "tutti/search/deciders.h"

namespace tutti {
namespace {

[[noreturn]] void stop_with(const std::string& sentence) {
  fmt::print(stderr, "{}\n", sentence);
  std::exit(2);
}

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    char* end = nullptr;
    numbers.push_back(std::strtod(word.c_str(), &end));
    if (word.empty() || *end != '\0') stop_with("'" + text + "' is no list of numbers");
  }
  return numbers;
}

struct Study {
  int jobs = 200;
  uint64_t first_seed = 1;
  uint64_t last_seed = 10;
  std::vector<double> loads = {0.5, 0.7, 0.85};
  std::vector<double> hidden = {0, 0.8};
  int queue = 0;
  JobSet set = JobSet::test;

  // False: it is no setting.
  bool take(const std::string& text) {
    const size_t at = text.find('=');
    if (at == std::string::npos) return false;
    const std::string name = text.substr(0, at);
    const std::string value = text.substr(at + 1);
    if (name == "jobs") {
      jobs = std::atoi(value.c_str());
    } else if (name == "seeds") {
      first_seed = std::strtoull(value.c_str(), nullptr, 10);
      const size_t dash = value.find('-');
      last_seed = dash == std::string::npos ? first_seed
                                            : std::strtoull(value.c_str() + dash + 1, nullptr, 10);
    } else if (name == "loads") {
      loads = numbers_of(value);
    } else if (name == "hidden") {
      hidden = numbers_of(value);
    } else if (name == "queue") {
      queue = std::atoi(value.c_str());
    } else if (name == "set" && (value == "test" || value == "validation")) {
      set = value == "test" ? JobSet::test : JobSet::validation;
    } else {
      stop_with("there is no setting '" + text + "'");
    }
    if (jobs < 1 || last_seed < first_seed) stop_with("'" + text + "' leaves nothing to run");
    return true;
  }
};

// Measures how long each op that is launched takes to decide, "nothing now" before it included.
class TimedDecider final : public Decider {
 public:
  explicit TimedDecider(std::unique_ptr<Decider> decider) : decider_(std::move(decider)) {}

  void begin(const Cluster& cluster, uint64_t seed) override { decider_->begin(cluster, seed); }
  Action decide(const WorldState& state) override {
    const auto begin = std::chrono::steady_clock::now();
    const Action action = decider_->decide(state);
    const auto took = std::chrono::steady_clock::now() - begin;
    since_ += static_cast<double>(std::chrono::nanoseconds(took).count()) / 1000;
    if (action.kind != Action::Kind::execute) return action;
    us_.push_back(since_);
    since_ = 0;
    return action;
  }
  std::vector<double>& us() { return us_; }

 private:
  std::unique_ptr<Decider> decider_;
  double since_ = 0;
  std::vector<double> us_;  // by op
};

// The smallest that is not below that share of them.
double quantile(std::vector<double>& values, double share) {
  const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

constexpr const char* kUntrained = "untrained_symphony";

std::unique_ptr<Decider> make_decider(const std::string& text, const Cluster& cluster,
                                      const std::vector<Counter>& counters) {
  if (text == kUntrained) {
    const TensorFile fresh = SymphonyModel::fresh({}, cluster, counters, 1);
    auto model = SymphonyModel::load(fresh, text, cluster, counters);
    if (!model) stop_with(model.error().message);
    return std::make_unique<SymphonyDecider>(*model);
  }
  const size_t colon = text.find(':');
  const auto entry = find_any_decider(text.substr(0, colon));
  if (!entry) stop_with(entry.error().message);
  if (colon == std::string::npos) return (*entry)->tuned_decider();
  const std::vector<double> values = numbers_of(text.substr(colon + 1));
  if (values.size() != (*entry)->knobs.size())
    stop_with(fmt::format("{} has {} settings", (*entry)->name, (*entry)->knobs.size()));
  return (*entry)->make_decider(values);
}

// As of `tutti cluster`.
Saturation saturation_of(const Cluster& cluster, const JobList& jobs, const JobSimOptions& options,
                         uint64_t seed) {
  std::vector<SaturationDecider> deciders;
  for (const char* name : {"heft", "graphene", "fifo"}) {
    const PolicyEntry* entry = find_decider(name).value();
    deciders.push_back({name, [entry] { return entry->tuned_decider(); }});
  }
  Result<Saturation> found = find_saturation(cluster, jobs, options, deciders, seed, {});
  if (!found) stop_with(found.error().message);
  return *found;
}

void judge(const Study& study, const std::vector<std::string>& deciders) {
  fmt::print("# decider load hidden seed mean_slowdown p99_slowdown us_p50 us_p99 makespan_ms\n");
  for (uint64_t seed = study.first_seed; seed <= study.last_seed; ++seed) {
    for (const double hidden : study.hidden) {
      Cluster cluster = default_cluster();
      Result<JobList> jobs =
          add_jobs(cluster, make_jobs(study.set, std::min(study.jobs, 40), seed));
      if (!jobs) stop_with(jobs.error().message);
      JobSimOptions options{.queue_depth = study.queue, .unknown_load = {.share = hidden}};
      const Saturation saturation = saturation_of(cluster, *jobs, options, seed);
      const std::vector<Counter> counters = usual_counters(cluster.machine());
      JobSimulator plain(cluster, options);
      options.counters = counters;
      JobSimulator counted(cluster, options);
      for (const double load : study.loads) {
        const std::vector<Arrival> arrivals = draw_arrivals(
            *jobs, {.jobs_per_s = load * saturation.jobs_per_s, .jobs = study.jobs}, seed);
        for (const std::string& name : deciders) {
          TimedDecider decider(make_decider(name, cluster, counters));
          const auto run = run_jobs(name == kUntrained ? counted : plain, arrivals, decider, seed);
          if (!run) stop_with(run.error().message);
          std::vector<double> slowdowns;
          for (const JobRecord& job : run->jobs) slowdowns.push_back(job.slowdown());
          fmt::print("{} {} {} {} {:.4f} {:.4f} {:.2f} {:.2f} {:.3f}\n", name, load, hidden, seed,
                     summary_of(slowdowns).mean, quantile(slowdowns, 0.99),
                     quantile(decider.us(), 0.5), quantile(decider.us(), 0.99),
                     static_cast<double>(run->makespan.count()) / 1e6);
          std::fflush(stdout);
        }
      }
    }
  }
}

struct Run {
  double mean = 0;
  double p99 = 0;
  double us_p50 = 0;
  double us_p99 = 0;
};
using Cell = std::pair<double, double>;  // hidden load, load

struct Runs {
  std::vector<std::string> names;
  std::map<Cell, std::map<std::string, std::map<uint64_t, Run>>> cells;
};

Runs read_runs(const std::string& path) {
  std::ifstream file(path);
  if (!file) stop_with(path + ": cannot be read");
  Runs runs;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    Cell cell;
    uint64_t seed = 0;
    Run run;
    words >> name >> cell.second >> cell.first >> seed >> run.mean >> run.p99 >> run.us_p50 >>
        run.us_p99;
    if (!words) stop_with(fmt::format("{}:{}: is no line of judge", path, number));
    if (std::find(runs.names.begin(), runs.names.end(), name) == runs.names.end())
      runs.names.push_back(name);
    runs.cells[cell][name][seed] = run;
  }
  if (runs.names.empty()) stop_with(path + ": there are no runs in it");
  return runs;
}

std::string cell_text(const std::vector<double>& values) {
  const Summary summary = summary_of(values);
  return fmt::format("{:.2f} ± {:.2f}", summary.mean, summary.half_interval);
}

// Ratios of the first decider's mean slow-down to each other's: geometric mean over the seeds with
// its interval.
std::string ratio_text(const std::map<uint64_t, Run>& mine, const std::map<uint64_t, Run>& other) {
  std::vector<double> logs;
  for (const auto& [seed, run] : other) {
    const auto found = mine.find(seed);
    if (found != mine.end()) logs.push_back(std::log(found->second.mean / run.mean));
  }
  if (logs.empty()) return "-";
  const Summary summary = summary_of(logs);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", std::exp(summary.mean),
                     std::exp(summary.mean - summary.half_interval),
                     std::exp(summary.mean + summary.half_interval));
}

void print_table(const std::string& path) {
  const Runs runs = read_runs(path);
  for (const auto& [cell, by_name] : runs.cells) {
    fmt::print("\nhidden load {}, load {}\n\n", cell.first, cell.second);
    fmt::print(
        "| decider | seeds | mean slow-down | p99 | {} relative to it | us per op, p50 | p99 |\n",
        runs.names[0]);
    fmt::print("|---|---:|---:|---:|---:|---:|---:|\n");
    for (const std::string& name : runs.names) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) continue;
      std::vector<double> means, p99s, us, us99;
      for (const auto& [seed, run] : found->second) {
        means.push_back(run.mean);
        p99s.push_back(run.p99);
        us.push_back(run.us_p50);
        us99.push_back(run.us_p99);
      }
      const auto mine = by_name.find(runs.names[0]);
      fmt::print("| {} | {} | {} | {} | {} | {:.1f} | {:.1f} |\n", name, means.size(),
                 cell_text(means), cell_text(p99s),
                 mine == by_name.end() ? "-" : ratio_text(mine->second, found->second),
                 summary_of(us).median, summary_of(us99).median);
    }
  }
}

int run(const std::vector<std::string>& arguments) {
  Study study;
  std::vector<std::string> words;
  for (const std::string& argument : arguments) {
    if (!study.take(argument)) words.push_back(argument);
  }
  if (words.size() >= 2 && words[0] == "judge") {
    judge(study, {words.begin() + 1, words.end()});
  } else if (words.size() == 2 && words[0] == "table") {
    print_table(words[1]);
  } else {
    fmt::print(stderr, "backlog_bench judge [NAME=VALUE...] DECIDER... | table FILE\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  return tutti::run({argv + 1, argv + argc});
}
