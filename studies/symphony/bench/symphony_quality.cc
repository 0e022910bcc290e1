// How well deciders do, compared with the best schedule found with full knowledge: for
// docs/results/symphony.md. By hand, in parts of a few minutes each:
//
//   symphony_quality tune [DECIDER...] > knobs.txt    the settings that are best on validation jobs
//   symphony_quality settings [DECIDER...]        tutti's settings compared with the untuned ones
//   symphony_quality rivals knobs.txt SEED [NAME:MODEL...] > SEED.txt
//                                                 one seed: every job of every decider
//   symphony_quality table SEED.txt...            the CDF, shares and medians
//   symphony_quality small                        best found against exhaustive search, small jobs
//
// NAME=VALUE changes the study: jobs, runs, load, unknown, trials, evaluations.

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

#include "studies/symphony/clairvoyant.h"
#include "tutti/base/check.h"
#include "tutti/base/file/tensor_file.h"
#include "tutti/base/random.h"
#include "tutti/base/statistics.h"
#include "tutti/graph/make/job.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/policy/online/paragon.h"
#include "tutti/policy/symphony/decider.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/billed_load.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/search/deciders.h"

namespace tutti {
namespace {

struct Study {
  int jobs = 20;           // of one run
  int runs = 25;           // of one seed
  double load = 0.6;       // billed
  double unknown = 0.8;    // share that a hidden tenant takes; 0: none
  int trials = 30;         // settings tried for each decider: as many as for ours
  int evaluations = 1200;  // schedules tried for each run to find the best
  int auto_evaluations = 500;

  bool set(const std::string& text) {
    const size_t at = text.find('=');
    if (at == std::string::npos) return false;
    const std::string name = text.substr(0, at);
    const double value = std::atof(text.c_str() + at + 1);
    const std::map<std::string, int*> whole = {{"jobs", &jobs},
                                               {"runs", &runs},
                                               {"trials", &trials},
                                               {"evaluations", &evaluations},
                                               {"auto_evaluations", &auto_evaluations}};
    const std::map<std::string, double*> real = {{"load", &load}, {"unknown", &unknown}};
    if (const auto found = whole.find(name); found != whole.end()) {
      *found->second = static_cast<int>(value);
    } else if (const auto other = real.find(name); other != real.end()) {
      *other->second = value;
    } else {
      fmt::print(stderr, "there is no setting '{}'\n", name);
      std::exit(2);
    }
    return true;
  }
};

struct World {
  Cluster cluster = default_cluster();
  JobList jobs;
  double billed_per_s;
  JobSimulator sim;
  JobSimulator counted;  // the same, with counters, which take longer

  World(const Study& study, JobSet set, uint64_t seed)
      : jobs(add_jobs(cluster, make_jobs(set, 40, seed)).value()),
        billed_per_s(billed_jobs_per_s(cluster, jobs)),
        sim(cluster, options(study)),
        counted(cluster, with_counters(study)) {}

  static JobSimOptions options(const Study& study) {
    JobSimOptions made = default_job_sim_options(study.unknown);
    made.record = true;
    return made;
  }
  JobSimOptions with_counters(const Study& study) const {
    JobSimOptions counted_options = options(study);
    counted_options.counters = usual_counters(cluster.machine());
    return counted_options;
  }

  std::vector<Arrival> arrivals(const Study& study, uint64_t luck) const {
    return draw_arrivals(
        jobs, {.jobs_per_s = billed_load_rate(study.load, billed_per_s), .jobs = study.jobs}, luck);
  }
};

[[noreturn]] void stop_with(const Error& error) {
  fmt::print(stderr, "{}\n", error.message);
  std::exit(1);
}

double mean_slowdown(const std::vector<JobRecord>& jobs) {
  double sum = 0;
  for (const JobRecord& job : jobs) sum += job.slowdown();
  return sum / static_cast<double>(jobs.size());
}

JobsRecord run_by(JobSimulator& sim, Decider& decider, const std::vector<Arrival>& arrivals,
                  uint64_t luck) {
  Result<JobsRecord> run = run_jobs(sim, arrivals, decider, luck);
  if (!run) stop_with(run.error());
  return std::move(*run);
}

// Paragon begins with what it learned on jobs of the training set.
std::unique_ptr<Decider> taught_paragon(const Study& study, std::span<const double> v) {
  const ParagonOptions options{.learning_rate = v[0], .care = v[1], .patience = v[2]};
  Interference known(options.learning_rate);
  World world(study, JobSet::train, 1);
  for (uint64_t run = 1; run <= 20; ++run) {
    Paragon paragon(options, known);
    run_by(world.sim, paragon, world.arrivals(study, run), run);
    known = paragon.learned();
  }
  return std::make_unique<Paragon>(options, known);
}

// As it is compared: with these knobs and all that it knows from elsewhere.
std::unique_ptr<Decider> make_rival(const Study& study, const PolicyEntry& entry,
                                    std::span<const double> values) {
  return entry.name == "paragon" ? taught_paragon(study, values) : entry.make_decider(values);
}

// The deciders of the registry with these names; all if there are none.
std::vector<const PolicyEntry*> deciders_called(const std::vector<std::string>& names) {
  std::vector<const PolicyEntry*> found;
  for (const std::string& name : names) {
    const auto entry = find_decider(name);
    if (!entry) stop_with(entry.error());
    found.push_back(*entry);
  }
  for (const PolicyEntry& entry : policy_registry()) {
    if (names.empty() && entry.make_decider) found.push_back(&entry);
  }
  return found;
}

// The knobs that have the least mean slow-down on validation jobs: the untuned ones, and trials - 1
// others drawn from the choices.
void tune(const Study& study, const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<World>> worlds;
  for (uint64_t seed = 1; seed <= 5; ++seed)
    worlds.push_back(std::make_unique<World>(study, JobSet::validation, seed));
  for (const PolicyEntry* item : deciders_called(names)) {
    const PolicyEntry& entry = *item;
    std::vector<double> best = entry.untuned();
    double least = 0;
    Rng rng(1);
    for (int trial = 0; trial < (entry.knobs.empty() ? 1 : study.trials); ++trial) {
      std::vector<double> values = entry.untuned();
      for (size_t k = 0; trial > 0 && k < values.size(); ++k)
        values[k] = entry.knobs[k].choices[rng.below(entry.knobs[k].choices.size())];
      double sum = 0;
      const auto decider = make_rival(study, entry, values);
      for (const auto& world : worlds) {
        for (uint64_t run = 1; run <= 4; ++run)
          sum += mean_slowdown(run_by(world->sim, *decider, world->arrivals(study, run), run).jobs);
      }
      if (trial == 0 || sum < least) {
        least = sum;
        best = values;
      }
    }
    fmt::print("{}", entry.name);
    for (const double value : best) fmt::print(" {}", value);
    fmt::print("\n");
    std::fflush(stdout);
    fmt::print(stderr, "{} {:.3f}\n", entry.name, least / 20);
  }
}

// As every command makes them: Paragon has learned nothing before.
double slowdown_of(const Study& study, World& world, const PolicyEntry& entry,
                   std::span<const double> values, uint64_t seed) {
  double sum = 0;
  const auto decider = entry.make_decider(values);
  for (int run = 0; run < study.runs; ++run) {
    const uint64_t luck = 1000 * seed + static_cast<uint64_t>(run);
    sum += mean_slowdown(run_by(world.sim, *decider, world.arrivals(study, luck), luck).jobs);
  }
  return sum / study.runs;
}

std::string in_one_cell(const std::vector<double>& slowdowns) {
  const Summary summary = summary_of(slowdowns);
  return fmt::format("{:.2f} ± {:.2f}", summary.mean, summary.half_interval);
}

// What tuning gained on jobs of the test set: five seeds of `runs` runs, the same for both.
void compare_settings(const Study& study, const std::vector<std::string>& names) {
  fmt::print("{} jobs a run, {} runs of each of 5 seeds, load {}, hidden load {}\n\n", study.jobs,
             study.runs, study.load, study.unknown);
  fmt::print("| decider | settings, tuned | mean slow-down, untuned | tuned |\n");
  fmt::print("|---|---|---:|---:|\n");
  std::vector<std::unique_ptr<World>> worlds;
  for (uint64_t seed = 1; seed <= 5; ++seed)
    worlds.push_back(std::make_unique<World>(study, JobSet::test, seed));
  for (const PolicyEntry* item : deciders_called(names)) {
    const PolicyEntry& entry = *item;
    std::vector<double> untuned;
    std::vector<double> tuned;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      untuned.push_back(slowdown_of(study, *worlds[seed - 1], entry, entry.untuned(), seed));
      tuned.push_back(slowdown_of(study, *worlds[seed - 1], entry, entry.tuned(), seed));
    }
    std::string settings;
    for (const Knob& knob : entry.knobs) settings += fmt::format(" {} {}", knob.name, knob.tuned);
    fmt::print("| {} |{} | {} | {} |\n", entry.name, settings, in_one_cell(untuned),
               in_one_cell(tuned));
    std::fflush(stdout);
  }
}

// Ends the program with a sentence unless it can be read.
std::ifstream open_text(const std::string& path) {
  std::ifstream file(path);
  if (!file || file.peek() == std::ifstream::traits_type::eof()) {
    fmt::print(stderr, "{}: there is no such file, or nothing in it\n", path);
    std::exit(2);
  }
  return file;
}

std::map<std::string, std::vector<double>> read_knobs(const std::string& path) {
  std::map<std::string, std::vector<double>> knobs;
  std::ifstream file = open_text(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (double value = 0; words >> value;) knobs[name].push_back(value);
    knobs.try_emplace(name);
  }
  return knobs;
}

struct Rival {
  std::string name;
  std::unique_ptr<Decider> decider;
  bool reads_counters = false;
};

// "NAME:PATH".
Rival make_trained(const std::string& text, World& world) {
  const size_t colon = text.find(':');
  const std::string path = text.substr(colon + 1);
  Result<Source> source = Source::open(path);
  const Result<TensorFile> file = source ? read_tensors(*source) : source.error();
  if (!file) stop_with(file.error());
  auto model = SymphonyModel::load(*file, path, world.cluster, world.counted.state().counters);
  if (!model) stop_with(model.error());
  JobSimulator& sim = world.counted;
  SymphonyOptions options;  // of the truth only a model that was trained on it makes use
  options.truth = [&sim](const Resource& resource) { return sim.utilisation(resource); };
  return {text.substr(0, colon), std::make_unique<SymphonyDecider>(*model, options), true};
}

std::vector<Rival> make_rivals(const Study& study, const std::string& knobs_path) {
  const auto knobs = read_knobs(knobs_path);
  std::vector<Rival> rivals;
  for (const PolicyEntry& entry : policy_registry()) {
    if (!entry.make_decider) continue;
    const auto found = knobs.find(entry.name);
    const std::vector<double> values =
        found != knobs.end() && found->second.size() == entry.knobs.size() ? found->second
                                                                           : entry.tuned();
    rivals.push_back({entry.name, make_rival(study, entry, values)});
  }
  const double evaluations[] = {static_cast<double>(study.auto_evaluations)};
  rivals.push_back(
      {"planned_auto", find_any_decider("planned_auto").value()->make_decider(evaluations)});
  return rivals;
}

void run_rivals(const Study& study, const std::string& knobs_path, uint64_t seed,
                const std::vector<std::string>& models) {
  std::vector<Rival> rivals = make_rivals(study, knobs_path);
  World world(study, JobSet::test, seed);
  for (const std::string& model : models) rivals.push_back(make_trained(model, world));
  fmt::print("# decider seed run job completion_ns best_ns slowdown\n");
  for (int run = 0; run < study.runs; ++run) {
    const uint64_t luck = 1000 * seed + static_cast<uint64_t>(run);
    const std::vector<Arrival> arrivals = world.arrivals(study, luck);
    std::vector<JobsRecord> runs;
    for (const Rival& rival : rivals) {
      runs.push_back(
          run_by(rival.reads_counters ? world.counted : world.sim, *rival.decider, arrivals, luck));
    }
    const Clairvoyant best = find_clairvoyant(world.sim, arrivals, luck, runs,
                                              {.evaluations = study.evaluations, .seed = luck});
    const auto print = [&](const std::string& name, const std::vector<JobRecord>& jobs) {
      for (size_t j = 0; j < jobs.size(); ++j) {
        fmt::print("{} {} {} {} {} {} {:.4f}\n", name, seed, run, j,
                   int64_t{jobs[j].completion().count()},
                   int64_t{best.jobs[j].completion().count()}, jobs[j].slowdown());
      }
    };
    for (size_t r = 0; r < rivals.size(); ++r) print(rivals[r].name, runs[r].jobs);
    print("best_found", best.jobs);
    std::fflush(stdout);
  }
}

// Of one decider.
struct Column {
  std::vector<double> performance;  // best / its own, at most 1, of every job
  std::map<uint64_t, std::vector<double>> by_seed;
  std::map<uint64_t, std::vector<double>> slowdowns;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// "0.81 ± 0.02" over the seeds.
template <class Figure>
std::string over_seeds(const std::map<uint64_t, std::vector<double>>& by_seed, Figure figure) {
  std::vector<double> figures;
  for (const auto& [seed, values] : by_seed) figures.push_back(figure(values));
  const Summary summary = summary_of(figures);
  return fmt::format("{:.3f} ± {:.3f}", summary.mean, summary.half_interval);
}

// By how much the median of "symphony" is above another's, over the seeds: those of one seed have
// had the same jobs and luck.
std::string symphony_above(const std::map<std::string, Column>& columns, const Column& other) {
  const auto symphony = columns.find("symphony");
  if (symphony == columns.end()) return "-";
  std::vector<double> differences;
  for (const auto& [seed, values] : other.by_seed) {
    const auto found = symphony->second.by_seed.find(seed);
    if (found != symphony->second.by_seed.end())
      differences.push_back(median(found->second) - median(values));
  }
  const Summary summary = summary_of(differences);
  return fmt::format("{:+.3f} ± {:.3f}", summary.mean, summary.half_interval);
}

// Its mean slow-down over another's, by seed.
std::string symphony_over(const std::map<std::string, Column>& columns, const Column& other) {
  const auto symphony = columns.find("symphony");
  if (symphony == columns.end()) return "-";
  std::vector<double> ratios;
  for (const auto& [seed, values] : other.slowdowns) {
    const auto found = symphony->second.slowdowns.find(seed);
    if (found != symphony->second.slowdowns.end())
      ratios.push_back(summary_of(found->second).mean / summary_of(values).mean);
  }
  const Summary summary = summary_of(ratios);
  return fmt::format("{:.3f} ± {:.3f}", summary.mean, summary.half_interval);
}

void print_table(const std::vector<std::string>& paths) {
  std::map<std::string, Column> columns;
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    std::ifstream file = open_text(path);
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream words(line);
      std::string name;
      uint64_t seed = 0;
      int run = 0;
      int job = 0;
      double completion = 0;
      double best = 0;
      double slowdown = 0;
      words >> name >> seed >> run >> job >> completion >> best >> slowdown;
      if (columns.find(name) == columns.end()) names.push_back(name);
      Column& column = columns[name];
      const double performance = std::min(1.0, best / completion);
      column.performance.push_back(performance);
      column.by_seed[seed].push_back(performance);
      column.slowdowns[seed].push_back(slowdown);
    }
  }
  fmt::print(
      "| decider | jobs | median | symphony above it | mean slow-down | symphony's over it | no "
      "loss | to 10 % | to 20 % | more |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const std::string& name : names) {
    const Column& column = columns[name];
    const auto share = [&](double from, double to) {
      const auto count = std::count_if(column.performance.begin(), column.performance.end(),
                                       [&](double p) { return p >= from && p < to; });
      return static_cast<double>(count) / static_cast<double>(column.performance.size());
    };
    const auto mean = [](const std::vector<double>& values) { return summary_of(values).mean; };
    fmt::print("| {} | {} | {} | {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} |\n", name,
               column.performance.size(), over_seeds(column.by_seed, median),
               symphony_above(columns, column), over_seeds(column.slowdowns, mean),
               symphony_over(columns, column), share(0.99, 2), share(0.9, 0.99), share(0.8, 0.9),
               share(0, 0.8));
  }
  fmt::print("\n| share of jobs with at most |");
  for (int x = 1; x <= 10; ++x) fmt::print(" {:.1f} |", x * 0.1);
  fmt::print("\n|---|{}\n", [] {
    std::string text;
    for (int x = 0; x < 10; ++x) text += "---:|";
    return text;
  }());
  for (const std::string& name : names) {
    fmt::print("| {} |", name);
    const std::vector<double>& values = columns[name].performance;
    for (int x = 1; x <= 10; ++x) {
      const auto count = std::count_if(values.begin(), values.end(),
                                       [&](double p) { return p <= x * 0.1 + 1e-9; });
      fmt::print(" {:.2f} |", static_cast<double>(count) / static_cast<double>(values.size()));
    }
    fmt::print("\n");
  }
}

// Jobs of at most six ops, alone: what annealing finds, compared with all schedules.
void small(const Study& study) {
  World world(study, JobSet::validation, 1);
  std::vector<double> ratios;
  for (uint64_t seed = 0; ratios.size() < 20 && seed < 500; ++seed) {
    Graph graph = make_job(static_cast<JobFamily>(seed % kJobFamilies), seed);
    if (graph.size() > 6) continue;
    const auto job = world.cluster.add_job(std::move(graph)).value();
    const Result<Clairvoyant> all = find_exhaustively(world.sim, job, seed);
    if (!all) continue;
    const std::vector<Arrival> arrivals = {{Duration(0), job}};
    const auto heft = find_decider("heft").value()->tuned_decider();
    const JobsRecord start = run_by(world.sim, *heft, arrivals, seed);
    const Clairvoyant found =
        find_clairvoyant(world.sim, arrivals, seed, {&start, 1}, {.evaluations = 600});
    ratios.push_back(found.mean_slowdown / all->mean_slowdown);
    fmt::print("{}: {} schedules, best {:.4f}; found {:.4f} in 600; heft {:.4f}\n", job->name(),
               all->evaluations, all->mean_slowdown, found.mean_slowdown,
               mean_slowdown(start.jobs));
  }
  const auto equal =
      std::count_if(ratios.begin(), ratios.end(), [](double r) { return r < 1 + 1e-9; });
  fmt::print("{} of {} found exactly; worst {:.4f}\n", equal, ratios.size(),
             *std::max_element(ratios.begin(), ratios.end()));
}

int run(const std::vector<std::string>& arguments) {
  Study study;
  std::vector<std::string> words;
  for (const std::string& argument : arguments) {
    if (!study.set(argument)) words.push_back(argument);
  }
  const std::string part = words.empty() ? "" : words[0];
  const std::vector<std::string> names(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (part == "tune") {
    tune(study, names);
  } else if (part == "settings") {
    compare_settings(study, names);
  } else if (part == "rivals" && words.size() >= 3) {
    run_rivals(study, words[1], std::strtoull(words[2].c_str(), nullptr, 10),
               {words.begin() + 3, words.end()});
  } else if (part == "table" && words.size() > 1) {
    print_table({words.begin() + 1, words.end()});
  } else if (part == "small") {
    small(study);
  } else {
    fmt::print(
        stderr,
        "symphony_quality tune [DECIDER...] | settings [DECIDER...] | rivals KNOBS SEED | table "
        "FILE... | small\n");
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  return tutti::run({argv + 1, argv + argc});
}
