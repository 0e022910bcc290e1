#include "tools/print/throughput_report.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

#include "tools/print/table.h"

namespace tutti {
namespace {

// NaN without a bound, which JSON writes as null.
double gap_above(Duration bound, Duration time) {
  if (time.count() == 0) return 0;
  if (bound.count() == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(time.count()) / static_cast<double>(bound.count()) - 1;
}

std::string gap_cell(Duration bound, Duration time) {
  return bound.count() == 0 ? "no bound" : fmt::format("{:.1f} %", 100 * gap_above(bound, time));
}

std::vector<int64_t> ops_by_device(const Problem& problem, const Plan& plan) {
  std::vector<int64_t> ops(static_cast<size_t>(problem.machine.size()), 0);
  for (const DeviceId device : plan.placement) ++ops[static_cast<size_t>(device.index)];
  return ops;
}

}  // namespace

std::string in_flight_text(const PassTimes& times, int passes) {
  return fmt::format("{} of {}", times.in_flight, passes);
}

void add_pass_times(JsonWriter& json, const PassTimes& times) {
  json.field("time_per_pass_ns", times.per_pass);
  json.field("simulated_time_per_pass_ns", times.simulated);
  json.field("largest_load_ns", times.largest_load).field("makespan_ns", times.one_pass);
  json.field("passes_in_flight", times.in_flight);
}

std::string ThroughputReport::text() const {
  const PassTimes& times = result.times;
  const LoadModel model(problem);
  const char* const load_is = model.serial() ? "work and transfers" : "work";
  std::string text = fmt::format(
      "{}: {} per pass with {} passes in flight, {} above the lower bound {}; one pass alone takes "
      "{}\n",
      result.plan.provenance.policy, to_text(times.per_pass), in_flight_text(times, passes),
      gap_cell(lower_bound, times.per_pass), to_text(lower_bound), to_text(times.one_pass));
  text += fmt::format("  simulated: {} per pass; most loaded device: {} ({})\n",
                      to_text(times.simulated), to_text(times.largest_load), load_is);
  if (const auto& other = result.for_one_pass) {
    text += fmt::format("  the best plan for one pass takes {} alone and {} per pass\n",
                        to_text(other->one_pass), to_text(other->per_pass));
  }
  const std::vector<int64_t> ops = ops_by_device(problem, result.plan);
  const std::vector<Duration> loads = device_loads(model, result.plan);
  for (const DeviceId device : problem.machine.devices()) {
    text += fmt::format("  {}: ops {}, {} {}\n", problem.machine.device(device).name,
                        ops[static_cast<size_t>(device.index)], load_is,
                        to_text(loads[static_cast<size_t>(device.index)]));
  }
  if (result.tried.size() < 2) return text;
  Table table({"tried", "per pass", "gap", "simulated", "load", "one pass", "in flight"});
  for (const TriedThroughput& tried : result.tried) {
    if (!tried.refusal.empty()) continue;
    table.add({tried.policy, to_text(tried.times.per_pass),
               gap_cell(lower_bound, tried.times.per_pass), to_text(tried.times.simulated),
               to_text(tried.times.largest_load), to_text(tried.times.one_pass),
               in_flight_text(tried.times, passes)});
  }
  return text + table.text();
}

std::string ThroughputReport::json() const {
  JsonWriter json;
  json.open_object().field("schema_version", 1).field("graph", problem.graph.name());
  json.field("machine", problem.machine.name()).field("objective", "throughput");
  json.field("policy", result.plan.provenance.policy).field("passes", passes);
  add_pass_times(json, result.times);
  json.field("lower_bound_ns", lower_bound);
  json.field("gap", gap_above(lower_bound, result.times.per_pass));
  json.field("evaluations", result.plan.provenance.evaluations);
  json.key("plan_for_one_pass");
  if (result.for_one_pass) {
    json.open_object();
    add_pass_times(json, *result.for_one_pass);
    json.close_object();
  } else {
    json.null();
  }
  const std::vector<int64_t> ops = ops_by_device(problem, result.plan);
  const std::vector<Duration> loads = device_loads(LoadModel(problem), result.plan);
  json.key("devices").open_list();
  for (const DeviceId device : problem.machine.devices()) {
    json.open_object().field("device", problem.machine.device(device).name);
    json.field("ops", ops[static_cast<size_t>(device.index)]);
    json.field("load_ns", loads[static_cast<size_t>(device.index)]).close_object();
  }
  json.close_list().key("tried").open_list();
  for (const TriedThroughput& tried : result.tried) {
    json.open_object().field("policy", tried.policy);
    if (tried.refusal.empty()) {
      add_pass_times(json, tried.times);
    } else {
      json.field("error", tried.refusal);
    }
    json.close_object();
  }
  json.close_list().close_object();
  return json.text();
}

}  // namespace tutti
