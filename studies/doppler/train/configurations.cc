#include "studies/doppler/train/configurations.h"

#include <utility>

#include "studies/doppler/published/net.h"
#include "studies/doppler/rivals/gdp_net.h"
#include "studies/doppler/rivals/placeto_net.h"
#include "studies/doppler/torch/modules.h"
#include "tutti/train/doppler/configuration.h"

namespace tutti {
namespace {

using Learned = PublishedShape::Learned;

// The figures of the released configuration: paper notes, section 8.
void add_published_stages(const ConfigurationRequest& request, TrainSettings& settings) {
  settings.episodes_per_problem = 1;
  settings.stages.push_back({.kind = StageSettings::Kind::imitate,
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

// The figures of the paper's text.
void add_written_stages(const ConfigurationRequest& request, TrainSettings& settings) {
  add_published_stages(request, settings);
  settings.stages.back().episodes = request.episodes.value_or(8000);
  for (StageSettings& stage : settings.stages) {
    stage.learning_rate = {1e-4, 1e-7};
    stage.entropy_weight = {1e-2, 1e-2};
  }
}

// What the second stage takes over from the first, as it was before both were repaired.
void add_old_stages(const char* name, const char* what, bool past, bool moments) {
  add_configuration(
      {.name = name,
       .what = what,
       .fill = [past, moments](const ConfigurationRequest& request, Configuration& made) {
         made.network = PublishedNet::fresh({}, request.seed);
         add_published_stages(request, made.settings);
         made.settings.stages.back().carries_past = past;
         made.settings.stages.back().carries_moments = moments;
       }});
}

template <class Network, class Shape>
void add(const char* name, const char* what, const Shape& shape, const char* figures = "") {
  add_configuration({.name = name,
                     .what = what,
                     .figures = figures,
                     .fill = [shape](const ConfigurationRequest& request, Configuration& made) {
                       made.network = Network::fresh(shape, request.seed);
                       add_published_stages(request, made.settings);
                     }});
}

}  // namespace

void add_doppler_studies() {
  add_published_module();
  add_rival_modules();
  add_configuration(
      {.name = "no-device-columns",
       .what = "default, without speeds, links and memory among the features",
       .fill = residual_with([](ResidualShape& shape) { shape.device_columns = false; })});
  add_configuration({.name = "published-view",
                     .what = "no-device-columns, and the rule it begins with knows only when an op "
                             "could start, as the published features do",
                     .fill = residual_with([](ResidualShape& shape) {
                       shape.device_columns = false;
                       shape.estimate = Estimate::start_alone;
                     })});
  using Published = PublishedNet;
  add<Published>("as-published",
                 "Doppler as its authors describe and release it: networks, stages, figures",
                 PublishedShape{}, "as-published and those below it");
  add_configuration({.name = "as-written",
                     .what = "as-published, with the rates, entropy weights and episodes of the "
                             "paper's text",
                     .fill = [](const ConfigurationRequest& request, Configuration& made) {
                       made.network = PublishedNet::fresh({}, request.seed);
                       add_written_stages(request, made.settings);
                     }});
  add_old_stages("old-stages", "as-published, but stage II keeps stage I's baseline and optimiser",
                 /*past=*/true, /*moments=*/true);
  add_old_stages("old-baseline", "as-published, but stage II keeps stage I's baseline",
                 /*past=*/true, /*moments=*/false);
  add_old_stages("old-optimiser", "as-published, but stage II keeps stage I's optimiser",
                 /*past=*/false, /*moments=*/true);
  add<Published>("select-only", "as-published, but the device is the one where the op starts first",
                 PublishedShape{.learned = Learned::select});
  add<Published>("place-only", "as-published, but the order is by b-level",
                 PublishedShape{.learned = Learned::place});
  add<Published>("joint", "as-published, but op and device are chosen at once",
                 PublishedShape{.learned = Learned::joint});
  // Wider ones would take seconds an episode.
  add<Published>("every-step", "as-published with messages at every step, 32 wide",
                 PublishedShape{.width = 32, .every_step = true});
  add<Published>("narrow", "as-published with messages once, 32 wide: to compare every-step with",
                 PublishedShape{.width = 32});
  add<PlacetoNet>("placeto", "the learned rival Placeto, with the stages of as-published",
                  PlacetoShape{});
  add<GdpNet>("gdp", "the learned rival GDP, with the stages of as-published", GdpShape{});
}

}  // namespace tutti
