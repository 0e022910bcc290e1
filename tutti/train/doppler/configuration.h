// Ways of training by name: which net, and which stages it goes through. configuration_help()
// describes them.

#ifndef TUTTI_TRAIN_DOPPLER_CONFIGURATION_H_
#define TUTTI_TRAIN_DOPPLER_CONFIGURATION_H_

#include <functional>
#include <string>
#include <vector>

#include "tutti/policy/doppler/residual_net.h"
#include "tutti/train/doppler/trainer.h"

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

using FillConfiguration =
    std::function<void(const ConfigurationRequest& request, Configuration& made)>;

// A way of training. What the request says of model and seed is in the settings already; `fill`
// adds the net and the stages.
struct NamedConfiguration {
  std::string name;
  std::string what;       // one line for lists
  std::string figures{};  // if not empty: how its usual figures are headed in the help text
  FillConfiguration fill;
};

// Fills in the residual net, its shape changed by `change` (none: as it is), and the stages of
// the configuration "default".
FillConfiguration residual_with(const std::function<void(ResidualShape& shape)>& change);

const std::vector<NamedConfiguration>& configurations();
// For programs with configurations of their own: in main, before anything else. A new name.
void add_configuration(NamedConfiguration configuration);

std::vector<std::string> configuration_names();
// A line for each: its name and what it is.
std::string configuration_help();

// Fails (invalid_input) with a sentence that lists the names there are.
Result<Configuration> configuration(const ConfigurationRequest& request);

// Fails (invalid_input) unless the net in the file is such as the configuration trains, naming
// both. Sizes may differ.
Result<void> check_network(const TensorFile& file, const std::string& path,
                           const Configuration& configuration, const std::string& name);

// A residual net that was trained on drawn problems has no marks, and cannot learn a given
// graph by heart. Gives it some that have no weight yet: it goes on deciding as it did until it
// learns. Others are left as they are.
void add_marks(TensorFile& network);

// Into how many lessons a problem's episodes are best divided, unless a flag says so: so that some
// cores have work where problems are few. A fixed number, whatever the threads.
int usual_lessons(const TrainSettings& settings, size_t given_problems);

// Fails (invalid_input) if something is set that cannot matter, or a stage would learn nothing.
Result<void> check_settings(const TrainSettings& settings, bool drawn);

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_CONFIGURATION_H_
