#include "tutti/train/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tutti/policy/doppler/published/network.h"
#include "tutti/policy/doppler/residual_network.h"
#include "tutti/policy/doppler/rivals/gdp_network.h"
#include "tutti/policy/doppler/rivals/placeto_network.h"

namespace tutti {
namespace {

using Kind = StageSettings::Kind;

struct Described {
  const char* name;
  const char* what;
};
constexpr Described kConfigurations[] = {
    {"default",
     "the residual network: self-labels on given graphs, policy gradient on drawn problems"},
    {"one-pass", "the same, with a PLACE whose answers can be had at once"},
    {"no-device-columns", "the same, without speeds, links and memory among the features"},
    {"published-view",
     "nor does the rule it begins with know run times and contention, but only when an op could "
     "start, as the published features do"},
    {"as-published", "Doppler as its authors describe and release it: networks, stages, figures"},
    {"select-only", "as-published, but the device is the one where the op starts first"},
    {"place-only", "as-published, but the order is by b-level"},
    {"joint", "as-published, but op and device are chosen at once"},
    {"every-step", "as-published with messages at every step, 32 wide"},
    {"narrow", "as-published with messages once, 32 wide: to compare every-step with"},
    {"placeto", "the learned rival Placeto, with the stages of as-published"},
    {"gdp", "the learned rival GDP, with the stages of as-published"},
};

// Pieces of work that an update is divided into.
constexpr int kSideBySide = 4;

// Without, equal ops of a graph cannot be told apart, and a label that does so cannot be learned.
constexpr int kMarks = 8;

// Measured on the released layer graph and on drawn problems: docs/results/doppler.md.
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

// The figures of the released configuration: paper notes, section 8.
void add_published_stages(const ConfigurationRequest& request, TrainSettings& settings) {
  settings.episodes_per_problem = 1;
  settings.stages.push_back({.kind = Kind::imitate,
                             .episodes = request.imitation.value_or(2000),
                             .learning_rate = {1e-3, 1e-3},
                             .entropy_weight = {1e-3, 1e-3},
                             .randomness = Ramp{1, 0}});
  settings.stages.push_back({.episodes = request.episodes.value_or(2000),
                             .learning_rate = {1e-4, 1e-4},
                             .randomness = Ramp{0.2, 0},
                             .baseline = StageSettings::Baseline::past,
                             .discount = 0.99});
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

std::vector<std::string> configuration_names() {
  std::vector<std::string> names;
  for (const Described& one : kConfigurations) names.emplace_back(one.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> configurations_described() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Described& one : kConfigurations) all.emplace_back(one.name, one.what);
  return all;
}

std::string configuration_help() {
  std::string text;
  for (const auto& [name, what] : configurations_described()) {
    text += fmt::format("  {:<18} {}\n", name, what);
  }
  return text;
}

Result<Configuration> configuration(const ConfigurationRequest& request) {
  Configuration made;
  made.settings.model = request.model;
  made.settings.seed = request.seed;
  ResidualShape residual{.estimate = request.model == SimModel::released
                                         ? Estimate::without_contention
                                         : Estimate::with_contention};
  PublishedShape published;
  const std::string& name = request.name;
  residual.marks = request.drawn ? 0 : kMarks;
  residual.one_pass = name == "one-pass";
  residual.device_columns = name != "no-device-columns" && name != "published-view";
  if (name == "published-view") residual.estimate = Estimate::start_alone;
  if (name == "select-only") published.learned = PublishedShape::Learned::select;
  if (name == "place-only") published.learned = PublishedShape::Learned::place;
  if (name == "joint") published.learned = PublishedShape::Learned::joint;
  published.every_step = name == "every-step";
  if (name == "every-step" || name == "narrow") published.width = 32;  // wider: seconds an episode
  if (name == "default" || name == "one-pass" || name == "no-device-columns" ||
      name == "published-view") {
    made.network = ResidualNetwork::fresh(residual, request.seed);
    add_default_stages(request, made.settings);
    return made;
  }
  for (const std::string& known : configuration_names()) {
    if (known != name) continue;
    if (name == "placeto") {
      made.network = PlacetoNetwork::fresh({}, request.seed);
    } else if (name == "gdp") {
      made.network = GdpNetwork::fresh({}, request.seed);
    } else {
      made.network = PublishedNetwork::fresh(published, request.seed);
    }
    add_published_stages(request, made.settings);
    return made;
  }
  return invalid_input(fmt::format("there is no configuration '{}'; there are {}", name,
                                   fmt::join(configuration_names(), ", ")));
}

Result<void> check_network(const TensorFile& file, const std::string& path,
                           const Configuration& configuration, const std::string& name) {
  // What configurations differ in, as the files tell it.
  for (const char* key :
       {"network", "one_pass", "device_columns", "start_alone", "learned", "every_step"}) {
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
  const auto shape = ResidualNetwork::shape_of(network, "the network");
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
