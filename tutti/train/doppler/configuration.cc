#include "tutti/train/doppler/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/policy/doppler/model.h"
#include "tutti/policy/doppler/residual_net.h"

namespace tutti {
namespace {

using Kind = StageSettings::Kind;

// Pieces of work that an update is divided into.
constexpr int kSideBySide = 4;

// Without, equal ops of a graph cannot be told apart, and a label that does so cannot be learned.
constexpr int kMarks = 8;

// Measured on the released layer graph and on drawn problems: docs/results/general-model.md.
void add_default_stages(const ConfigurationRequest& request, TrainSettings& settings) {
  StageSettings imitate{.kind = Kind::imitate,
                        .episodes = request.imitation.value_or(0),
                        .learning_rate = {3e-3, 1e-3}};
  if (imitate.episodes > 0) settings.stages.push_back(imitate);
  if (request.drawn) {
    settings.problems_per_update = 32;
    settings.episodes_per_problem = 16;
    settings.stages.push_back({.episodes = request.episodes.value_or(4'000'000),
                               .learning_rate = {1e-3, 5e-5},
                               .entropy_weight = {0.02, 0}});
    return;
  }
  settings.episodes_per_problem = 2;
  settings.stages.push_back({.episodes = request.episodes.value_or(8'000),
                             .learning_rate = {3e-3, 1e-4},
                             .gradient_weight = 0,
                             .label_weight = 1,
                             .search_evaluations = 3000,
                             .search_until = 0.3,
                             .search_walks = kSideBySide});
}

std::vector<NamedConfiguration>& all_configurations() {
  static std::vector<NamedConfiguration> all = {
      {.name = "default",
       .what =
           "the residual network: self-labels on given graphs, policy gradient on drawn problems",
       .fill = residual_with({})},
      {.name = "one-pass",
       .what = "the same, with a PLACE whose answers can be had at once",
       .fill = residual_with([](ResidualShape& shape) { shape.one_pass = true; })},
  };
  return all;
}

std::string told(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? "" : found->second;
}

// Fails if there is nothing for it to learn from.
Result<void> check_stage(const StageSettings& stage, int samples, bool drawn) {
  if (stage.kind == Kind::imitate || stage.label_weight > 0) return {};
  if (stage.gradient_weight <= 0) {
    return invalid_input(
        "nothing would be learned: both --gradient-weight and --label-weight are 0; give one");
  }
  // A problem that is drawn has no past.
  const bool alone = stage.baseline == StageSettings::Baseline::group || drawn;
  if (samples > 1 || !alone) return {};
  return invalid_input(
      "nothing would be learned: with one episode of a problem (--samples) there is no other to "
      "compare it with; give 2 or more");
}

}  // namespace

FillConfiguration residual_with(const std::function<void(ResidualShape& shape)>& change) {
  return [change](const ConfigurationRequest& request, Configuration& made) {
    ResidualShape shape{.estimate = request.model == SimModel::physical
                                        ? Estimate::with_contention
                                        : Estimate::without_contention};
    shape.marks = request.drawn ? 0 : kMarks;
    if (change) change(shape);
    made.network = ResidualNet::fresh(shape, request.seed);
    add_default_stages(request, made.settings);
  };
}

const std::vector<NamedConfiguration>& configurations() {
  return all_configurations();
}

void add_configuration(NamedConfiguration configuration) {
  for (const NamedConfiguration& known : configurations()) {
    TUTTI_CHECK(known.name != configuration.name);
  }
  all_configurations().push_back(std::move(configuration));
}

std::vector<std::string> configuration_names() {
  std::vector<std::string> names;
  for (const NamedConfiguration& one : configurations()) names.push_back(one.name);
  return names;
}

std::string configuration_help() {
  std::string text;
  for (const NamedConfiguration& one : configurations()) {
    text += fmt::format("  {:<18} {}\n", one.name, one.what);
  }
  return text;
}

Result<Configuration> configuration(const ConfigurationRequest& request) {
  for (const NamedConfiguration& one : configurations()) {
    if (one.name != request.name) continue;
    Configuration made;
    made.settings.model = request.model;
    made.settings.seed = request.seed;
    one.fill(request, made);
    return made;
  }
  return invalid_input(fmt::format("there is no configuration '{}'; there are {}", request.name,
                                   fmt::join(configuration_names(), ", ")));
}

Result<void> check_network(const TensorFile& file, const std::string& path,
                           const Configuration& configuration, const std::string& name) {
  // What configurations differ in, as the files tell it.
  std::vector<std::string> keys = {"network"};
  for (const NetFamily& family : net_families()) {
    if (family.name != network_named_in(configuration.network)) continue;
    keys.insert(keys.end(), family.variants.begin(), family.variants.end());
  }
  for (const std::string& key : keys) {
    const std::string given = told(file, key);
    const std::string wanted = told(configuration.network, key);
    if (given == wanted) continue;
    return invalid_input(
        fmt::format("{}: its '{}' is '{}', and configuration {} trains one with '{}'; name the "
                    "--config that it is of",
                    path, key, given, name, wanted));
  }
  return {};
}

void add_marks(TensorFile& network) {
  const auto shape = ResidualNet::shape_of(network, "the network");
  if (!shape || shape->marks > 0) return;
  network.metadata["marks"] = std::to_string(kMarks);
  network.tensors["mark.weight"] = {
      .shape = {shape->width, kMarks},
      .data = std::vector<float>(static_cast<size_t>(shape->width) * kMarks, 0.0F)};
}

int usual_lessons(const TrainSettings& settings, size_t given_problems) {
  bool learns_from_episodes = false;  // a label alone makes one lesson
  for (const StageSettings& stage : settings.stages) {
    const bool learns = stage.kind == Kind::imitate || stage.gradient_weight > 0;
    learns_from_episodes |= stage.episodes > 0 && learns;
  }
  if (!learns_from_episodes) return 1;
  const int problems =
      given_problems == 0 ? settings.problems_per_update : static_cast<int>(given_problems);
  return std::clamp(kSideBySide / problems, 1, settings.episodes_per_problem);
}

Result<void> check_settings(const TrainSettings& settings, bool drawn) {
  if (settings.lessons_per_problem > settings.episodes_per_problem) {
    return invalid_input(fmt::format(
        "a lesson needs an episode: --lessons is {} and --samples {}; give no more lessons",
        settings.lessons_per_problem, settings.episodes_per_problem));
  }
  bool imitates = false;
  for (const StageSettings& stage : settings.stages) {
    if (stage.episodes == 0) continue;
    imitates |= stage.kind == Kind::imitate;
    if (auto learns = check_stage(stage, settings.episodes_per_problem, drawn); !learns) {
      return learns;
    }
  }
  if (settings.teacher.empty() || imitates) return {};
  return invalid_input(
      "--teacher is for a stage that imitates, and there is none; give its episodes with "
      "--imitation");
}

}  // namespace tutti
