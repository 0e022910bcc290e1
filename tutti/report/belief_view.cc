#include "tutti/report/belief_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tutti {
namespace {

using Role = ReportedBelief::Role;

bool is_switch(const Machine& machine, ChannelId channel) {
  const auto& switches = machine.spec().switches;
  return std::any_of(switches.begin(), switches.end(), [&](const MachineSpec::SwitchSpec& item) {
    return item.name == machine.channel(channel).name;
  });
}

std::string sort_of(const Machine& machine, const Resource& resource) {
  switch (resource.kind) {
    case Resource::Kind::machine:
      return "interconnect";
    case Resource::Kind::host:
      return "root";
    case Resource::Kind::memory:
    case Resource::Kind::cache:
      return "memory";
    case Resource::Kind::device:
      return "device";
    case Resource::Kind::core:
      return "core";
    case Resource::Kind::channel:
      break;
  }
  return is_switch(machine, ChannelId{resource.index}) ? "switch" : "link";
}

// Gives variables their part of the hardware, and parts their numbers in the order of the network.
class Parts {
 public:
  Parts(const Machine& machine, const MachineNetwork& built)
      : machine_(machine), network_(built.network), resource_(built.network.size()) {
    for (const Believed& item : built.resources) resource_[item.variable.index] = item.resource;
    for (const auto* list : {&built.measured, &built.launched, &built.observed}) {
      for (const InputVariable& told : *list) resource_[told.variable.index] = told.resource;
    }
    // What stands between a counter and a use is about what it leads to. Children come later.
    for (int32_t i = network_.size() - 1; i >= 0; --i) {
      const auto children = network_.children(VariableId{i});
      if (!resource_[i] && !children.empty()) resource_[i] = resource_[children[0].index];
    }
  }

  int32_t part_of(VariableId id, Role role, std::vector<ReportedBelief::Part>& parts) {
    const Resource resource = resource_[id.index].value_or(Resource{});
    // What is launched on a CPU leads to its cores; next to the CPU, which they lead to, it would
    // turn the picture's arrows round.
    const bool ahead = role == Role::launched && !has_child_at(id, resource);
    const auto [found, is_new] =
        numbers_.emplace(std::pair(resource, ahead), static_cast<int32_t>(parts.size()));
    if (is_new) {
      parts.push_back({ahead ? "launch" : sort_of(machine_, resource),
                       resource.kind == Resource::Kind::machine
                           ? machine_.name()
                           : resource_name(machine_, resource)});
    }
    return found->second;
  }

 private:
  bool has_child_at(VariableId id, const Resource& resource) const {
    const auto children = network_.children(id);
    return std::any_of(children.begin(), children.end(),
                       [&](VariableId child) { return resource_[child.index] == resource; });
  }

  const Machine& machine_;
  const Network& network_;
  std::vector<std::optional<Resource>> resource_;  // by variable
  std::map<std::pair<Resource, bool>, int32_t> numbers_;
};

template <class Ids>
std::vector<int32_t> indices_of(const Ids& ids) {
  std::vector<int32_t> indices;
  for (const auto id : ids) indices.push_back(id.index);
  return indices;
}

const char* name_of(Role role) {
  switch (role) {
    case Role::measured:
      return "measured";
    case Role::launched:
      return "launched";
    case Role::observed:
      return "observed";
    case Role::hidden:
      break;
  }
  return "hidden";
}

// With the digits that a page can show.
void write_figure(const std::optional<double>& number, JsonWriter& json) {
  number&& std::isfinite(*number) ? json.raw(fmt::format("{:.4g}", *number)) : json.null();
}

template <class List>
void write_figures(const char* name, const List& list, JsonWriter& json) {
  json.key(name).open_list();
  for (const auto& number : list) write_figure(number, json);
  json.close_list();
}

void write_indices(const char* name, const std::vector<int32_t>& list, JsonWriter& json) {
  json.key(name).open_list();
  for (const int32_t index : list) json.value(index);
  json.close_list();
}

}  // namespace

ReportedBelief view_of(const Machine& machine, std::span<const Counter> counters,
                       const MachineNetwork& built, std::span<const double> constants) {
  const Network& network = built.network;
  ReportedBelief view{.machine = machine.name()};
  view.variables.resize(static_cast<size_t>(network.size()));
  const auto tell = [&](const std::vector<InputVariable>& list, Role role) {
    for (const InputVariable& told : list) {
      ReportedBelief::VariableRow& row = view.variables[told.variable.index];
      row.role = role;
      if (told.counter >= 0) row.counter = counters[told.counter].name;
    }
  };
  tell(built.measured, Role::measured);
  tell(built.launched, Role::launched);
  tell(built.observed, Role::observed);
  for (const Believed& item : built.resources) view.variables[item.variable.index].believed = true;
  Parts parts(machine, built);
  for (const VariableId id : network.variables()) {
    const Variable& variable = network.variable(id);
    ReportedBelief::VariableRow& row = view.variables[id.index];
    row.name = variable.name;
    row.part = parts.part_of(id, row.role, view.parts);
    row.parents = indices_of(variable.parents);
    row.constants = indices_of(variable.constants);
    if (variable.law != nullptr) row.law = variable.law->formula();
  }
  const std::vector<double> natural = network.natural(constants);
  for (size_t c = 0; c < natural.size(); ++c) {
    const Constant& constant = network.constants()[c];
    view.constants.push_back({constant.name, constant.start, natural[c]});
  }
  return view;
}

ReportedBelief::Moment moment_of(const Network& network, const Inferred& inferred, Duration time) {
  ReportedBelief::Moment moment{.time = time,
                                .samples = inferred.samples.count(),
                                .effective = inferred.samples.effective(),
                                .mean = {},
                                .spread = {},
                                .truth = {}};
  for (const VariableId id : network.variables()) {
    moment.mean.push_back(inferred.samples.mean(id));
    moment.spread.push_back(inferred.samples.spread(id));
  }
  return moment;
}

void write_belief(const ReportedBelief& belief, JsonWriter& json) {
  json.open_object().field("machine", belief.machine).field("told", belief.told);
  json.field("model", belief.model).key("parts").open_list();
  for (const ReportedBelief::Part& part : belief.parts) {
    json.open_object().field("sort", part.sort).field("name", part.name).close_object();
  }
  json.close_list().key("variables").open_list();
  for (const ReportedBelief::VariableRow& row : belief.variables) {
    json.open_object().field("name", row.name).field("part", row.part);
    json.field("role", name_of(row.role)).field("believed", row.believed);
    json.field("counter", row.counter).field("law", row.law);
    write_indices("parents", row.parents, json);
    write_indices("constants", row.constants, json);
    json.close_object();
  }
  json.close_list().key("constants").open_list();
  for (const ReportedBelief::ConstantRow& row : belief.constants) {
    json.open_object().field("name", row.name).key("start");
    write_figure(row.start, json);
    json.key("value");
    write_figure(row.value, json);
    json.close_object();
  }
  json.close_list().key("moments").open_list();
  for (const ReportedBelief::Moment& moment : belief.moments) {
    json.open_object().field("time_ns", moment.time).field("samples", moment.samples);
    json.key("effective");
    write_figure(moment.effective, json);
    write_figures("mean", moment.mean, json);
    write_figures("spread", moment.spread, json);
    write_figures("truth", moment.truth, json);
    json.close_object();
  }
  json.close_list().close_object();
}

}  // namespace tutti
