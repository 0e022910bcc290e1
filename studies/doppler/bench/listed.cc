#include "studies/doppler/bench/listed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tutti/graph/import/import.h"
#include "tutti/machine/preset.h"
#include "tutti/policy/doppler/general.h"

namespace tutti {
namespace {

constexpr double kNoise = 0.1;
constexpr int kJudging = 20;
constexpr uint64_t kFreshSeeds = uint64_t{1} << 40;
constexpr int kBootstraps = 10'000;

}  // namespace

std::vector<Listed> read_list(const std::string& path) {
  std::vector<Listed> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Listed listed;
    if (words >> listed.machine >> listed.family >> listed.size >> listed.ratio >> listed.path) {
      lines.push_back(listed);
    }
  }
  return lines;
}

std::optional<Problem> listed_problem(const Listed& listed) {
  const auto refuse = [&](const Error& error) {
    fmt::print(stderr, "{} on {}: {}\n", listed.path, listed.machine, error.message);
    return std::nullopt;
  };
  auto imported = load_graph(listed.path);
  if (!imported) return refuse(imported.error());
  auto machine = load_machine(listed.machine);
  if (!machine) return refuse(machine.error());
  CostSpec spec;
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = kNoise};
  spec.transfer_noise = spec.run_time_noise;
  auto problem = Problem::make(std::move(imported->graph), std::move(*machine), spec);
  if (!problem) return refuse(problem.error());
  return std::move(*problem);
}

SearchModel planning_scenarios() {
  SearchModel model;
  model.scenarios.count = 4;
  return model;
}

SearchModel fresh_scenarios() {
  SearchModel model;
  model.scenarios = {.seed = kFreshSeeds, .count = kJudging};
  return model;
}

DopplerModel model_named(const std::string& name) {
  if (name == "general") return general_model();
  auto source = Source::open(name);
  auto file = source ? read_tensors(*source) : Result<TensorFile>(source.error());
  auto model = file ? DopplerModel::load(*file, name) : Result<DopplerModel>(file.error());
  if (!model) {
    fmt::print(stderr, "{}\n", model.error().message);
    std::exit(2);
  }
  return std::move(*model);
}

RatioInterval by_family(const std::map<std::string, std::vector<double>>& families) {
  RatioInterval result;
  std::vector<const std::vector<double>*> groups;
  double count = 0;
  for (const auto& [name, values] : families) {
    groups.push_back(&values);
    for (const double value : values) result.mean += value;
    count += static_cast<double>(values.size());
  }
  if (count == 0) return result;
  result.mean /= count;
  std::vector<double> means;
  Rng rng(1);
  for (int i = 0; i < kBootstraps; ++i) {
    double sum = 0;
    double drawn = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
      const std::vector<double>& group = *groups[rng.below(groups.size())];
      for (size_t k = 0; k < group.size(); ++k) sum += group[rng.below(group.size())];
      drawn += static_cast<double>(group.size());
    }
    means.push_back(sum / drawn);
  }
  std::sort(means.begin(), means.end());
  result.low = means[kBootstraps / 40];
  result.high = means[kBootstraps - 1 - kBootstraps / 40];
  return result;
}

}  // namespace tutti
