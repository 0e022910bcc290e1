// What ways of searching have reached after so much time, or after so many simulations, side by
// side on the problems of a list. Plans are judged as studies/doppler/protocol.md says.
//
//   anytime LIST RESULTS BUDGETS [PLANNERS]
//
// BUDGETS are seconds (0.1s,1s,10s) or counts of simulations (100,1000). A line for each plan is
// appended to the file RESULTS: machine, family, size, ratio, graph, planner, budget, makespan in
// ns. What is there already is not run again, so that the same command goes on where it was
// stopped. The table goes to standard output: geometric means of ratios to annealing with the
// longest budget but 60 s.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "studies/doppler/bench/listed.h"
#include "studies/studies.h"
#include "tutti/base/parallel.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

constexpr const char* kPlanners =
    "annealing,lns,random_keys,contention_keys,doppler_samples,guided,auto";
constexpr const char* kYardstick = "annealing";
constexpr const char* kLong = "60s";

// One plan, by words of its line.
struct Cell {
  Listed listed;
  std::string planner, budget;

  std::string key() const {
    return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}", listed.machine, listed.family, listed.size,
                       listed.ratio, listed.path, planner, budget);
  }
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

Budget budget_of(const std::string& text) {
  if (!text.ends_with("s")) return {.wall_clock = {}, .evaluations = std::stoll(text), .stop = {}};
  const std::chrono::duration<double> seconds(std::stod(text));
  return {.wall_clock = std::chrono::duration_cast<std::chrono::milliseconds>(seconds),
          .evaluations = {},
          .stop = {}};
}

double run(const Cell& cell, const Problem& problem) {
  AutoSettings settings;
  settings.model = planning_scenarios();
  const auto planner = find_planner(cell.planner, settings);
  if (!planner) return kNoPlan;
  const auto plan = make_plan(*planner, problem, budget_of(cell.budget), 1);
  return plan ? Evaluator(problem, fresh_scenarios()).cost(*plan) : kNoPlan;
}

// By key.
std::map<std::string, double> read_results(const std::string& path) {
  std::map<std::string, double> results;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t last = line.rfind('\t');
    if (last == std::string::npos || file.eof()) continue;  // cut off
    results[line.substr(0, last)] = std::strtod(line.c_str() + last, nullptr);
  }
  return results;
}

void print_table(const std::vector<Listed>& list, const std::vector<std::string>& planners,
                 const std::vector<std::string>& budgets,
                 const std::map<std::string, double>& results) {
  std::string yardstick = budgets.front();
  for (const std::string& budget : budgets) {
    if (budget != kLong) yardstick = budget;
  }
  fmt::print("| planner |");
  for (const std::string& budget : budgets) fmt::print(" {} |", budget);
  fmt::print("\n|---|");
  for (size_t i = 0; i < budgets.size(); ++i) fmt::print("---:|");
  fmt::print("\n");
  for (const std::string& planner : planners) {
    fmt::print("| {} |", planner);
    for (const std::string& budget : budgets) {
      std::map<std::string, std::vector<double>> families;
      for (const Listed& listed : list) {
        const auto own = results.find(Cell{listed, planner, budget}.key());
        const auto other = results.find(Cell{listed, kYardstick, yardstick}.key());
        if (own == results.end() || other == results.end()) continue;
        families[listed.family].push_back(std::log(own->second / other->second));
      }
      const RatioInterval found = by_family(families);
      fmt::print(" {:.3f} [{:.3f}, {:.3f}] |", std::exp(found.mean), std::exp(found.low),
                 std::exp(found.high));
    }
    fmt::print("\n");
  }
}

int run_all(const std::string& list_path, const std::string& path,
            const std::vector<std::string>& budgets, const std::vector<std::string>& planners) {
  const std::vector<Listed> list = read_list(list_path);
  std::map<std::string, double> results = read_results(path);
  std::vector<Cell> missing;
  for (const std::string& budget : budgets) {
    for (const Listed& listed : list) {
      for (const std::string& planner : planners) {
        const Cell cell{listed, planner, budget};
        if (!results.contains(cell.key())) missing.push_back(cell);
      }
    }
  }
  std::ofstream file(path, std::ios::app);
  std::mutex mutex;
  parallel_for(static_cast<int>(missing.size()), usable_cores(), [&](int index, int) {
    const Cell& cell = missing[static_cast<size_t>(index)];
    const auto made = listed_problem(cell.listed);
    const double makespan = made ? run(cell, *made) : kNoPlan;
    const std::lock_guard lock(mutex);
    file << cell.key() << '\t' << fmt::format("{:.0f}", makespan) << std::endl;
    results[cell.key()] = makespan;
  });
  print_table(list, planners, budgets, results);
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  tutti::add_studies();
  if (argc < 4) {
    std::fprintf(stderr, "usage: anytime LIST RESULTS BUDGETS [PLANNERS]\n");
    return 2;
  }
  return tutti::run_all(argv[1], argv[2], tutti::split(argv[3]),
                        tutti::split(argc > 4 ? argv[4] : tutti::kPlanners));
}
