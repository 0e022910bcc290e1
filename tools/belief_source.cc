#include "tools/belief_source.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "tools/inputs.h"
#include "tutti/belief/constants_file.h"
#include "tutti/graph/make/job.h"
#include "tutti/machine/preset.h"
#include "tutti/plan/world/default_cluster.h"
#include "tutti/policy/registry.h"
#include "tutti/policy/symphony/model.h"
#include "tutti/runtime/arriving/host_counters.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/runtime/sim/jobs/saturation.h"

namespace tutti {
namespace {

constexpr int kSamples = 1 << 13;  // a page may take longer than a decision
constexpr size_t kMostMoments = 60;
constexpr int kJobs = 30;
constexpr double kLoad = 0.6;
constexpr int kSaturationJobs = 300;  // a page needs no more precise a load
constexpr double kUnknownLoad = 0.5;

// A belief with the constants it is to have.
struct Known {
  std::vector<Counter> counters;
  Belief belief;
  std::vector<double> constants;

  Known(const Machine& machine, std::vector<Counter> counted)
      : counters(std::move(counted)),
        belief(machine, counters),
        constants(first_constants(belief.network())) {}

  ReportedBelief view(const Machine& machine, std::string told, const std::string& model) const {
    ReportedBelief made = view_of(machine, counters, belief.built(), constants);
    made.told = std::move(told);
    made.model = model;
    return made;
  }
  ReportedBelief::Moment moment(const Observation& observation, Duration time,
                                uint64_t seed) const {
    const SampleOptions options{.samples = kSamples, .seed = seed};
    return moment_of(belief.network(), belief.infer(constants, observation, options), time);
  }
};

Result<void> learn_from(const BeliefQuestion& question, Known& known) {
  if (question.model == nullptr) return {};
  Result<std::vector<double>> constants =
      load_constants(known.belief.network(), *question.model, question.model_name);
  if (!constants) return constants.error();
  known.constants = std::move(*constants);
  return {};
}

Result<ReportedBelief> before_any_reading(const Machine& machine, const BeliefQuestion& question) {
  Known known(machine, usual_counters(machine));
  if (auto learnt = learn_from(question, known); !learnt) return learnt.error();
  ReportedBelief made = known.view(machine, "nothing yet", question.model_name);
  Observation nothing;
  nothing.readings.resize(known.counters.size());
  made.moments.push_back(known.moment(nothing, Duration(0), question.seed));
  return made;
}

// As often as `tutti telemetry` does.
Result<ReportedBelief> of_this_host(const Machine& machine, const BeliefQuestion& question) {
  constexpr int kReadings = 8;
  constexpr auto kInterval = std::chrono::milliseconds(20);
  const auto feed = read_host(machine, {.interval = kInterval, .window = kReadings});
  std::this_thread::sleep_for((kReadings + 1) * kInterval);
  std::vector<CounterReading> readings;
  feed->last(readings);
  // Others are told by runs of ours alone, of which there is none now.
  std::vector<Counter> counted;
  Observation seen;
  for (const Counter& wanted : counters_for_real(machine, *feed)) {
    for (size_t f = 0; f < feed->counters().size(); ++f) {
      if (!counts_the_same(feed->counters()[f], wanted) || readings[f].count == 0) continue;
      counted.push_back(wanted);
      seen.readings.push_back(readings[f]);
      break;
    }
  }
  if (counted.empty()) {
    return invalid_input(
        fmt::format("nothing of machine '{}' is counted on this host; name a "
                    "machine that it is, such as this-host, or ask for prior",
                    machine.name()));
  }
  Known known(machine, std::move(counted));
  if (auto learnt = learn_from(question, known); !learnt) return learnt.error();
  ReportedBelief made = known.view(
      machine, fmt::format("what this host counted in {} ms", kReadings * kInterval.count()),
      question.model_name);
  made.moments.push_back(known.moment(seen, Duration(0), question.seed));
  return made;
}

// What counters said at one decision, and what they spoke of.
struct Seen {
  Duration time;
  Observation observation;
  std::vector<double> truth;  // by resource of the belief
};

Result<std::vector<Seen>> watch(JobSimulator& sim, const Belief& belief, Decider& decider) {
  std::vector<Seen> seen;
  for (int64_t epoch = -1; !sim.done();) {
    const WorldState& state = sim.state();
    if (state.epoch != epoch && !state.readings.empty()) {
      seen.push_back({state.now, {.readings = state.readings}, {}});
      for (const Believed& item : belief.resources())
        seen.back().truth.push_back(sim.utilisation(item.resource));
    }
    epoch = state.epoch;
    if (auto done = sim.step(decider.decide(state)); !done) return done.error();
  }
  return seen;
}

Result<ReportedBelief> in_simulation(Machine machine, const BeliefQuestion& question) {
  CostSpec costs = default_cluster_costs();
  if (!question.costs.empty()) {
    Result<CostSpec> read = load_costs(question.costs);
    if (!read) return read.error();
    costs = std::move(*read);
  }
  Result<Cluster> cluster = Cluster::make(std::move(machine), std::move(costs));
  if (!cluster) return cluster.error();
  const Result<JobList> jobs = add_jobs(*cluster, make_jobs(JobSet::test, kJobs, question.seed));
  if (!jobs) return jobs.error();
  Known known(cluster->machine(), usual_counters(cluster->machine()));
  if (auto learnt = learn_from(question, known); !learnt) return learnt.error();
  JobSimulator sim(*cluster, {.unknown_load = {.share = kUnknownLoad}, .counters = known.counters});
  const auto decider = (*find_decider("heft"))->tuned_decider();
  decider->begin(*cluster, question.seed);
  const SaturationDecider by[] = {
      {"heft", [] { return find_decider("heft").value()->tuned_decider(); }}};
  const auto saturation = find_saturation(*cluster, *jobs, {}, by, question.seed,
                                          {.jobs = kSaturationJobs, .precision = 0.1});
  if (!saturation) return saturation.error();
  const ArrivalSpec arrivals{.jobs_per_s = kLoad * saturation->jobs_per_s, .jobs = kJobs};
  sim.reset(draw_arrivals(*jobs, arrivals, question.seed), question.seed);
  const auto seen = watch(sim, known.belief, *decider);
  if (!seen) return seen.error();
  ReportedBelief made = known.view(
      cluster->machine(),
      fmt::format("what was counted while {} simulated jobs ran, under a hidden load", kJobs),
      question.model_name);
  const size_t stride = (seen->size() + kMostMoments - 1) / kMostMoments;
  for (size_t i = 0; i < seen->size(); i += stride) {
    const Seen& one = (*seen)[i];
    made.moments.push_back(known.moment(one.observation, one.time, question.seed + i));
    auto& truth = made.moments.back().truth;
    truth.resize(made.variables.size());
    for (size_t r = 0; r < one.truth.size(); ++r)
      truth[known.belief.resources()[r].variable.index] = one.truth[r];
  }
  return made;
}

}  // namespace

Result<ReportedBelief> find_belief(const BeliefQuestion& question) {
  const bool sim = question.told == "sim";
  Result<Machine> machine =
      sim && question.machine.empty()
          ? Machine::build(default_cluster_machine())
          : load_machine(question.machine.empty() ? "this-host" : question.machine);
  if (!machine) return machine.error();
  if (!sim && !question.costs.empty()) {
    return invalid_input("--costs is for --belief sim; without jobs nothing costs anything");
  }
  if (sim) return in_simulation(std::move(*machine), question);
  return question.told == "host" ? of_this_host(*machine, question)
                                 : before_any_reading(*machine, question);
}

}  // namespace tutti
