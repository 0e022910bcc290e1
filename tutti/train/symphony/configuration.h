// Ways of training Symphony by name: the shape of the model, and how it learns.

#ifndef TUTTI_TRAIN_SYMPHONY_CONFIGURATION_H_
#define TUTTI_TRAIN_SYMPHONY_CONFIGURATION_H_

#include <string>
#include <vector>

#include "tutti/train/symphony/trainer.h"

namespace tutti {

struct SymphonyConfiguration {
  std::string name;
  std::string what;  // one line for lists
  SymphonyShape shape{};
  SymphonySettings settings{};
};

const std::vector<SymphonyConfiguration>& symphony_configurations();

// For programs with configurations of their own: in main, before anything else. A new name.
void add_symphony_configuration(SymphonyConfiguration configuration);

std::string symphony_configuration_names();  // joined by commas

// Fails (invalid_input) with a sentence that lists the names there are.
Result<SymphonyConfiguration> symphony_configuration(const std::string& name);

}  // namespace tutti

#endif  // TUTTI_TRAIN_SYMPHONY_CONFIGURATION_H_
