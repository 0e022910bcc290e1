#include "tutti/runtime/sim/model.h"

#include <deque>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// A deque: models refer to its elements.
std::deque<OtherSimModel>& others() {
  static std::deque<OtherSimModel> all;
  return all;
}

}  // namespace

std::vector<SimModel> sim_models() {
  std::vector<SimModel> models = {SimModel::physical};
  for (const OtherSimModel& other : others()) models.push_back(SimModel(&other));
  return models;
}

std::optional<SimModel> find_sim_model(std::string_view name) {
  for (const SimModel model : sim_models()) {
    if (model.name() == name) return model;
  }
  return std::nullopt;
}

SimModel add_sim_model(OtherSimModel model) {
  for (const SimModel known : sim_models()) {
    TUTTI_CHECK(known.name() != model.name && known.number() != model.number);
  }
  others().push_back(std::move(model));
  return SimModel(&others().back());
}

}  // namespace tutti
