// Ways of training by name: which network, and which stages it goes through.
//
// - default: the residual network; self-labelling on given graphs, policy gradient on drawn ones
// - one-pass: the same with a PLACE that can be had at once
// - no-device-columns: the same without speeds, links and memory among its features
// - published-view: nor does the rule it starts from know run times and contention, but only when
// an
//   op could start on a device, as the published features do
// - as-published: Doppler as its authors describe and release it: networks, stages, figures
// - select-only, place-only, joint: its ablations
// - every-step, narrow: messages at every step, and once, both in a network of width 32
// - placeto, gdp: the learned rivals, with the stages of as-published

#ifndef TUTTI_TRAIN_CONFIGURATION_H_
#define TUTTI_TRAIN_CONFIGURATION_H_

#include <string>
#include <vector>

#include "tutti/train/doppler.h"

namespace tutti {

struct Configuration {
  TensorFile network;  // before training
  TrainSettings settings;
};

struct ConfigurationRequest {
  std::string name = "default";
  bool drawn = false;  // problems come from the curriculum
  SimModel model = SimModel::physical;
  uint64_t seed = 1;
  // None: as many as the configuration has.
  std::optional<int64_t> imitation{};
  std::optional<int64_t> episodes{};
};

std::vector<std::string> configuration_names();

// Fails (invalid_input) with a sentence that lists the names there are.
Result<Configuration> configuration(const ConfigurationRequest& request);

// Fails (invalid_input) unless the network in the file is such as the configuration trains, naming
// both. Sizes may differ.
Result<void> check_network(const TensorFile& file, const std::string& path,
                           const Configuration& configuration, const std::string& name);

// Fails (invalid_input) if something is set that cannot matter, or a stage would learn nothing.
Result<void> check_settings(const TrainSettings& settings, bool drawn);

}  // namespace tutti

#endif  // TUTTI_TRAIN_CONFIGURATION_H_
