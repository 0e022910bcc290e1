#include "tutti/train/symphony/configuration.h"

#include <fmt/format.h>

#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// Scores start from online earliest finish; several episodes of a scenario are compared with each
// other; proximal steps; the belief's constants learn along their paths.
std::vector<SymphonyConfiguration>& all_symphony_configurations() {
  static std::vector<SymphonyConfiguration> all = {
      {.name = "default", .what = "ours", .settings = {.episodes = 24'000}}};
  return all;
}

}  // namespace

const std::vector<SymphonyConfiguration>& symphony_configurations() {
  return all_symphony_configurations();
}

void add_symphony_configuration(SymphonyConfiguration configuration) {
  TUTTI_CHECK(!symphony_configuration(configuration.name));
  all_symphony_configurations().push_back(std::move(configuration));
}

std::string symphony_configuration_names() {
  std::string names;
  for (const SymphonyConfiguration& one : symphony_configurations()) {
    names += (names.empty() ? "" : ", ") + one.name;
  }
  return names;
}

Result<SymphonyConfiguration> symphony_configuration(const std::string& name) {
  for (const SymphonyConfiguration& one : symphony_configurations()) {
    if (one.name == name) return one;
  }
  return invalid_input(fmt::format("there is no configuration '{}'; there are {}", name,
                                   symphony_configuration_names()));
}

}  // namespace tutti
