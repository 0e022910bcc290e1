#include "tutti/search/state_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "tutti/base/file/document.h"
#include "tutti/base/file/fields.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/graph/limits.h"
#include "tutti/plan/check/check.h"

namespace tutti {
namespace {

// A wall clock adds its rounds at each call; no search reaches so many.
constexpr int64_t kMostRounds = 1'000'000;
constexpr const char* kFormat = "tutti-search-state";
// 1 had four walks, all of them on the whole machine; 3 says which weights are kept, if plans do.
constexpr int kVersion = 3;
constexpr size_t kMostWalks = 4096;

// The first fields of a file, which name its owner; count and aim follow.
std::vector<std::pair<const char*, std::string>> texts_of(const StateOwner& owner) {
  return {{"graph_fingerprint", fingerprint_text(owner.graph_fingerprint)},
          {"machine_fingerprint", fingerprint_text(owner.machine_fingerprint)},
          {"costs_fingerprint", fingerprint_text(owner.costs_fingerprint)},
          {"constraints_fingerprint", fingerprint_text(owner.constraints_fingerprint)},
          {"seed", std::to_string(owner.seed)}};
}

void write_plan(JsonWriter& json, const char* key, const Plan& plan, double cost) {
  json.key(key).open_object().field("cost", cost).key("devices").open_list();
  for (const DeviceId device : plan.placement) json.value(device.index);
  json.close_list().key("priorities").open_list();
  for (const int64_t priority : plan.priority) json.value(priority);
  json.close_list();
  if (plan.weights.stated()) {
    json.key("kept").open_list();
    for (const std::vector<ValueId>& kept : plan.weights.kept) {
      json.open_list();
      for (const ValueId weight : kept) json.value(weight.index);
      json.close_list();
    }
    json.close_list().key("buffers").open_list();
    for (const int64_t bytes : plan.weights.stream_buffer_bytes) json.value(bytes);
    json.close_list();
  }
  json.close_object();
}

bool states_weights(const IslandsState& state) {
  return std::any_of(state.walks.begin(), state.walks.end(), [](const Walk& walk) {
    return walk.plan.weights.stated() || walk.best.weights.stated();
  });
}

// What is wrong with it, check_plan says.
void read_weights(Fields& fields, const Problem& problem, WeightKeeping& weights) {
  for (const Document& memory : fields.items("kept")) {
    std::vector<ValueId>& kept = weights.kept.emplace_back();
    for (const Document& item : memory.items) {
      const auto index = fields.as_integer(item, "kept", {.most = problem.graph.value_count() - 1});
      if (index) kept.push_back(ValueId{static_cast<int32_t>(*index)});
    }
  }
  for (const Document& item : fields.items("buffers")) {
    const auto bytes = fields.as_integer(item, "buffers", {.most = kMostBytes});
    if (bytes) weights.stream_buffer_bytes.push_back(*bytes);
  }
}

void read_plan_part(Fields& fields, const char* key, const std::string& file,
                    const Problem& problem, Plan& plan, double& cost) {
  const Document* part = fields.entry(key);
  if (part == nullptr) return fields.fail(fmt::format("'{}' is missing", key));
  Fields inner(*part, file, "a plan of the search state");
  cost = inner.number("cost", {});
  for (const Document& item : inner.items("devices")) {
    const auto device = inner.as_integer(item, "devices", {.most = problem.machine.size() - 1});
    if (device) plan.placement.push_back(DeviceId{static_cast<int32_t>(*device)});
  }
  for (const Document& item : inner.items("priorities")) {
    const auto priority =
        inner.as_integer(item, "priorities", {.least = std::numeric_limits<int64_t>::min()});
    if (priority) plan.priority.push_back(*priority);
  }
  read_weights(inner, problem, plan.weights);
  const auto ops = static_cast<size_t>(problem.graph.size());
  if (plan.placement.size() != ops || plan.priority.size() != ops) {
    inner.fail(fmt::format("a plan holds {} devices and {} priorities for {} ops",
                           plan.placement.size(), plan.priority.size(), ops));
  } else {
    const std::vector<std::string> faults = check_plan(problem, plan, 1);
    if (!faults.empty()) inner.fail(faults[0]);
  }
  inner.done_within(fields);
}

}  // namespace

StateOwner owner_of(const Problem& problem, const SearchModel& model, uint64_t seed,
                    const Budget& budget) {
  const Scenarios& scenarios = model.scenarios;
  return {.graph_fingerprint = problem.graph.fingerprint(),
          .machine_fingerprint = problem.machine.fingerprint(),
          .costs_fingerprint = problem.costs.fingerprint(),
          .constraints_fingerprint = problem.constraints_fingerprint(),
          .seed = seed,
          .evaluations = budget.evaluations.value_or(0),
          .aim = fmt::format("{} {} scenarios={} first={} tail={}x{}", model.model.name(),
                             static_cast<int>(model.order), scenarios.count, scenarios.seed,
                             scenarios.tail_weight, scenarios.tail_share)};
}

std::string state_to_json(const IslandsState& state, const StateOwner& owner) {
  JsonWriter json;
  json.open_object()
      .field("format", kFormat)
      .field("schema_version", states_weights(state) ? kVersion : 2);
  for (const auto& [key, text] : texts_of(owner)) json.field(key, text);
  json.field("budget_evaluations", owner.evaluations).field("aim", owner.aim);
  json.field("rounds", state.rounds).field("evaluations", state.evaluations);
  json.key("walks").open_list();
  for (const Walk& walk : state.walks) {
    json.open_object();
    write_plan(json, "current", walk.plan, walk.cost);
    write_plan(json, "best", walk.best, walk.best_cost);
    if (!walk.within.empty()) {
      json.key("within").open_list();
      for (const DeviceId device : walk.within) json.value(device.index);
      json.close_list();
    }
    json.close_object();
  }
  json.close_list().close_object();
  return json.text();
}

Result<IslandsState> read_state(Source& source, const Problem& problem, const StateOwner& owner) {
  const Result<Document> root = read_json(source);
  if (!root) return root.error();
  Fields fields(*root, source.name(), "the search state");
  if (fields.text("format") != kFormat) {
    fields.fail(fmt::format("this is no search state; 'format' must be {}", kFormat));
  }
  fields.schema_version(1, kVersion);
  bool same = fields.text("aim") == owner.aim;
  for (const auto& [key, text] : texts_of(owner)) same = (fields.text(key) == text) && same;
  const int64_t evaluations = fields.integer("budget_evaluations", {});
  if (fields.good() && (!same || evaluations != owner.evaluations)) {
    fields.fail(
        "the search state is of another graph, machine, costs, constraints, seed, model, "
        "scenarios or --evaluations; delete the file to begin again");
  }
  IslandsState state;
  state.rounds = static_cast<int>(fields.integer("rounds", {.most = kMostRounds}));
  state.evaluations = fields.integer("evaluations", {});
  for (const Document& item : fields.items("walks")) {
    Fields walk_fields(item, source.name(), "a walk");
    Walk& walk = state.walks.emplace_back();
    read_plan_part(walk_fields, "current", source.name(), problem, walk.plan, walk.cost);
    read_plan_part(walk_fields, "best", source.name(), problem, walk.best, walk.best_cost);
    for (const Document& device : walk_fields.items("within")) {
      const auto index =
          walk_fields.as_integer(device, "within", {.most = problem.machine.size() - 1});
      if (index) walk.within.push_back(DeviceId{static_cast<int32_t>(*index)});
    }
    walk_fields.done_within(fields);
  }
  if (fields.good() && (state.walks.size() < kIslands || state.walks.size() > kMostWalks)) {
    fields.fail(fmt::format("the search state holds {} walks, not {} or more", state.walks.size(),
                            kIslands));
  }
  if (auto done = fields.done(); !done) return done.error();
  return state;
}

}  // namespace tutti
