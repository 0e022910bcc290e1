#include "tutti/calibrate/measure/validate_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/random.h"
#include "tutti/base/statistics.h"
#include "tutti/calibrate/observe.h"
#include "tutti/calibrate/rank.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"

namespace tutti {
namespace {

constexpr int kResamples = 2000;
constexpr double kLow = 0.025;
constexpr double kHigh = 0.975;

double mean_over(const std::vector<double>& by_turn, std::span<const size_t> turns) {
  double sum = 0;
  for (const size_t turn : turns) sum += by_turn[turn];
  return sum / static_cast<double>(turns.size());
}

// The figure of all turns, and percentiles of it over turns that are drawn with replacement.
WithInterval bootstrap(size_t turns, uint64_t seed,
                       const std::function<double(std::span<const size_t> turns)>& figure) {
  std::vector<size_t> drawn(turns);
  for (size_t i = 0; i < turns; ++i) drawn[i] = i;
  const double value = figure(drawn);
  if (turns < 2) return {value, value, value};
  Rng rng = Rng(seed).split(turns);
  std::vector<double> figures;
  for (int i = 0; i < kResamples; ++i) {
    for (size_t& turn : drawn) turn = rng.below(turns);
    figures.push_back(figure(drawn));
  }
  return {value, sample_quantile(figures, kLow), sample_quantile(figures, kHigh)};
}

double real_ns(Duration start, Duration finish) {
  return static_cast<double>((finish - start).count());
}

void add_residuals(const JobsRecord& run, Residuals& residuals) {
  for (const JobRecord& record : run.jobs) {
    const Problem& problem = record.job->problem();
    for (const OpSpan& span : record.trace.ops) {
      residuals.add(std::string(problem.graph.op_kind_name(span.op)),
                    problem.machine.device(span.device).kind, real_ns(span.start, span.finish),
                    problem.costs.run_time(span.op, span.device));
    }
    for (const TransferSpan& span : record.trace.transfers) {
      const Route* const route = problem.machine.route(span.from, span.to);
      if (span.given || route == nullptr || span.hop >= std::ssize(route->hops)) continue;
      const Hop& hop = route->hops[static_cast<size_t>(span.hop)];
      residuals.add("", hop_name(problem.machine, hop), real_ns(span.start, span.finish),
                    Costs::hop_time(hop, problem.graph.bytes(span.value)));
    }
  }
}

// The engine's time in addition to deciding, from how ops went from ready to running.
class DispatchProbe {
 public:
  void add(const JobsRecord& run) {
    std::map<std::pair<int32_t, int>, std::vector<const OpPhases*>> by_slot;
    std::map<const OpPhases*, Duration> finish;
    for (const JobRecord& record : run.jobs) {
      std::map<int32_t, const OpPhases*> phases;
      for (const OpPhases& one : record.phases) phases[one.op.index] = &one;
      for (const OpSpan& span : record.trace.ops) {
        const auto found = phases.find(span.op.index);
        if (found == phases.end()) continue;
        by_slot[{span.device.index, span.slot}].push_back(found->second);
        finish[found->second] = span.finish;
      }
    }
    for (auto& [slot, ops] : by_slot) {
      std::sort(ops.begin(), ops.end(),
                [](const OpPhases* a, const OpPhases* b) { return a->started < b->started; });
      Duration free{-1};
      for (const OpPhases* one : ops) {
        const Duration could = std::max(one->fetched, free);
        if (free < one->ready) {
          reaction_.push_back(ns_between(one->ready, one->placed) - ns_between({}, one->no_room));
          idle_.push_back(ns_between(could, one->started));
        } else if (free > one->placed) {
          behind_.push_back(ns_between(could, one->started));
        } else {
          help_.push_back(ns_between(free, one->placed));
        }
        free = finish[one];
      }
    }
  }

  DispatchTimes times() const {
    return {.reaction = trimmed_mean(reaction_),
            .help = trimmed_mean(help_),
            .start_idle = trimmed_mean(idle_),
            .start_behind = trimmed_mean(behind_)};
  }

 private:
  static double ns_between(Duration from, Duration to) {
    return static_cast<double>((to - from).count());
  }
  // Without the largest hundredth: a thread that another process kept waiting for milliseconds.
  static Duration trimmed_mean(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    samples.resize(samples.size() - samples.size() / 100);
    if (samples.empty()) return Duration(0);
    return nanoseconds_of(std::max(0.0, summary_of(samples).mean));
  }

  std::vector<double> reaction_;
  std::vector<double> help_;
  std::vector<double> idle_;
  std::vector<double> behind_;
};

// What ops of each kind took, as a multiple of their costs.
class KindSpeeds {
 public:
  explicit KindSpeeds(size_t kinds) : real_(kinds, 0), expected_(kinds, 0) {}

  void add(const JobsRecord& run) {
    for (const JobRecord& record : run.jobs) {
      for (const OpSpan& span : record.trace.ops) {
        const Duration expected = record.job->costs().run_time(span.op, span.device);
        if (expected <= Duration(0) || expected >= kNever) continue;
        const auto kind = static_cast<size_t>(record.job->kind(span.op).index);
        real_[kind] += static_cast<double>((span.finish - span.start).count());
        expected_[kind] += static_cast<double>(expected.count());
      }
    }
  }

  std::vector<double> factors() const {
    std::vector<double> factors;
    for (size_t i = 0; i < real_.size(); ++i)
      factors.push_back(expected_[i] > 0 ? real_[i] / expected_[i] : 1);
    return factors;
  }

 private:
  std::vector<double> real_;
  std::vector<double> expected_;
};

const char* to_text(HostSpeed speed) {
  constexpr const char* kWords[] = {"costs", "warm-up", "turn"};
  return kWords[static_cast<size_t>(speed)];
}

// The turns that every decider has run.
std::vector<int> complete_turns(const JobsComparison& compared, size_t deciders) {
  std::map<int, size_t> rows_with;
  for (const JobsRow& row : compared.rows) {
    for (const JobsRun& run : row.runs) ++rows_with[run.turn];
  }
  std::vector<int> complete;
  for (const auto& [turn, rows] : rows_with) {
    if (rows == deciders) complete.push_back(turn);
  }
  return complete;
}

const JobsRun& run_of_turn(const JobsRow& row, int turn) {
  return *std::find_if(row.runs.begin(), row.runs.end(),
                       [turn](const JobsRun& run) { return run.turn == turn; });
}

void add_estimate(JsonWriter& json, const std::string& name, const WithInterval& estimate) {
  json.field(name, estimate.value);
  json.key(name + "_interval").open_list().value(estimate.low).value(estimate.high).close_list();
}

}  // namespace

WithInterval JobsValidation::error(size_t policy) const {
  const ValidatedPolicy& row = policies[policy];
  return bootstrap(turns(), seed, [&](std::span<const size_t> drawn) {
    return mean_over(row.simulated, drawn) / mean_over(row.real, drawn) - 1;
  });
}

WithInterval JobsValidation::real(size_t policy) const {
  const ValidatedPolicy& row = policies[policy];
  return bootstrap(turns(), seed,
                   [&](std::span<const size_t> drawn) { return mean_over(row.real, drawn); });
}

WithInterval JobsValidation::simulated(size_t policy) const {
  const ValidatedPolicy& row = policies[policy];
  return bootstrap(turns(), seed,
                   [&](std::span<const size_t> drawn) { return mean_over(row.simulated, drawn); });
}

WithInterval JobsValidation::mean_error() const {
  return bootstrap(turns(), seed, [&](std::span<const size_t> drawn) {
    double sum = 0;
    for (const ValidatedPolicy& row : policies)
      sum += std::abs(mean_over(row.simulated, drawn) / mean_over(row.real, drawn) - 1);
    return sum / static_cast<double>(policies.size());
  });
}

WithInterval JobsValidation::rank_correlation() const {
  return bootstrap(turns(), seed, [&](std::span<const size_t> drawn) {
    std::vector<double> really;
    std::vector<double> in_simulation;
    for (const ValidatedPolicy& row : policies) {
      really.push_back(mean_over(row.real, drawn));
      in_simulation.push_back(mean_over(row.simulated, drawn));
    }
    return tutti::rank_correlation(in_simulation, really);
  });
}

double JobsValidation::agreement_of_turns() const {
  if (turns() < 2) return 1;
  double sum = 0;
  for (size_t left_out = 0; left_out < turns(); ++left_out) {
    std::vector<size_t> others;
    for (size_t i = 0; i < turns(); ++i) {
      if (i != left_out) others.push_back(i);
    }
    std::vector<double> one;
    std::vector<double> rest;
    for (const ValidatedPolicy& row : policies) {
      one.push_back(row.real[left_out]);
      rest.push_back(mean_over(row.real, others));
    }
    sum += tutti::rank_correlation(one, rest);
  }
  return sum / static_cast<double>(turns());
}

JobsValidation::Pairs JobsValidation::pairs() const {
  Pairs pairs;
  if (turns() < 2) return pairs;
  for (size_t a = 0; a < policies.size(); ++a) {
    for (size_t b = a + 1; b < policies.size(); ++b) {
      std::vector<double> differences;
      double in_simulation = 0;
      for (size_t i = 0; i < turns(); ++i) {
        differences.push_back(policies[a].real[i] - policies[b].real[i]);
        in_simulation += policies[a].simulated[i] - policies[b].simulated[i];
      }
      const Summary really = summary_of(differences);
      if (std::abs(really.mean) <= really.half_interval) continue;
      ++pairs.differ;
      pairs.same_order += (really.mean > 0) == (in_simulation > 0) && in_simulation != 0 ? 1 : 0;
    }
  }
  return pairs;
}

Result<JobsValidation> validate_jobs(
    const Cluster& cluster, std::span<const NamedDecider> deciders,
    const std::vector<Counter>& counters, const CounterFeed& feed,
    const std::function<std::vector<Arrival>(uint64_t seed)>& arrivals,
    const ValidateJobsOptions& options) {
  Residuals residuals;
  DispatchProbe probe;
  std::map<std::string, std::vector<double>> decisions;  // by policy
  CompareJobsOptions real = options.real;
  // The engine is measured in the turns that do not count, if there are any.
  const bool probes_warm_up = real.turns.warm_up > 0;
  KindSpeeds warm_up(cluster.kinds().size());
  std::map<int, KindSpeeds> of_turn;
  real.on_run = [&](const std::string& policy, const Turn& turn, const RealJobsRun& run) {
    if (turn.counts) add_residuals(run.run, residuals);
    of_turn.try_emplace(turn.turn, cluster.kinds().size()).first->second.add(run.run);
    if (turn.counts == probes_warm_up) return;
    warm_up.add(run.run);
    probe.add(run.run);
    for (const Duration time : run.decision_times)
      decisions[policy].push_back(static_cast<double>(time.count()));
  };
  const Result<JobsComparison> compared =
      compare_jobs(cluster, deciders, counters, feed, arrivals, real);
  if (!compared) return compared.error();
  const std::vector<int> turns = complete_turns(*compared, deciders.size());
  if (turns.empty())
    return failed("the time was up before every policy had run once; allow more, or fewer jobs");
  JobsValidation validation{.machine = cluster.machine().name(), .seed = real.turns.seed};
  validation.dispatch = probe.times();
  validation.speed = options.speed;
  for (const JobsRow& row : compared->rows) {
    const auto named =
        std::find_if(deciders.begin(), deciders.end(),
                     [&](const NamedDecider& decider) { return decider.name == row.decider; });
    ValidatedPolicy made{.policy = row.decider,
                         .decision_time = nanoseconds_of(summary_of(decisions[row.decider]).mean)};
    JobSimOptions simulated = options.simulated;
    simulated.decision_delay = made.decision_time;
    simulated.dispatch = validation.dispatch;
    simulated.counters = counters;
    if (options.speed == HostSpeed::warm_up) simulated.kind_factors = warm_up.factors();
    for (const int turn : turns) {
      if (options.speed == HostSpeed::turn) simulated.kind_factors = of_turn.at(turn).factors();
      JobSimulator sim(cluster, simulated);
      if (options.on_simulate) options.on_simulate(row.decider, turn);
      const uint64_t seed = real.turns.seed + static_cast<uint64_t>(turn);
      const auto decider = named->make();
      const Result<JobsRecord> run = run_jobs(sim, arrivals(seed), *decider, seed);
      if (!run) {
        return Error{run.error().kind, row.decider + ", in simulation: " + run.error().message};
      }
      const JobsRun figures = figures_of(*run, turn);
      const JobsRun& really = run_of_turn(row, turn);
      made.real.push_back(really.mean_slowdown);
      made.simulated.push_back(figures.mean_slowdown);
      made.real_jobs_in_system += really.mean_jobs_in_system / static_cast<double>(turns.size());
      made.simulated_jobs_in_system +=
          figures.mean_jobs_in_system / static_cast<double>(turns.size());
      validation.jobs = static_cast<int>(run->jobs.size());
    }
    validation.policies.push_back(std::move(made));
  }
  validation.residuals = residuals.rows();
  return validation;
}

std::string to_text(const JobsValidation& validation) {
  const WithInterval rank = validation.rank_correlation();
  const WithInterval error = validation.mean_error();
  return fmt::format(
      "simulator against {} turn{} of {} jobs under {} policies, really run: rank correlation "
      "{:.2f} ({:.2f} to {:.2f}), mean error of slow-downs {:.1f} % ({:.1f} to {:.1f} %)",
      validation.turns(), validation.turns() == 1 ? "" : "s", validation.jobs,
      validation.policies.size(), rank.value, rank.low, rank.high, 100 * error.value,
      100 * error.low, 100 * error.high);
}

std::string validation_to_json(const JobsValidation& validation,
                               const std::optional<ValidatedLoad>& load) {
  JsonWriter json;
  json.open_object().field("format", "tutti-online-validation").field("schema_version", 1);
  json.field("machine", validation.machine).field("seed", std::to_string(validation.seed));
  json.field("jobs", validation.jobs).field("turns", static_cast<int64_t>(validation.turns()));
  if (load) {
    json.field("load", load->load).field("jobs_per_s", load->jobs_per_s);
    json.field("saturation_jobs_per_s", load->saturation_jobs_per_s);
  }
  json.field("host_speed", to_text(validation.speed)).key("summary").open_object();
  add_estimate(json, "rank_correlation", validation.rank_correlation());
  add_estimate(json, "mean_error", validation.mean_error());
  const JobsValidation::Pairs pairs = validation.pairs();
  json.field("agreement_of_turns", validation.agreement_of_turns());
  json.field("pairs_that_differ", pairs.differ).field("pairs_in_same_order", pairs.same_order);
  json.close_object().key("dispatch").open_object();
  json.field("reaction_ns", validation.dispatch.reaction);
  json.field("help_ns", validation.dispatch.help);
  json.field("start_idle_ns", validation.dispatch.start_idle);
  json.field("start_behind_ns", validation.dispatch.start_behind);
  json.close_object().key("policies").open_list();
  for (size_t i = 0; i < validation.policies.size(); ++i) {
    const ValidatedPolicy& row = validation.policies[i];
    json.open_object().field("policy", row.policy);
    add_estimate(json, "real_slowdown", validation.real(i));
    add_estimate(json, "simulated_slowdown", validation.simulated(i));
    add_estimate(json, "error", validation.error(i));
    json.field("real_jobs_in_system", row.real_jobs_in_system);
    json.field("simulated_jobs_in_system", row.simulated_jobs_in_system);
    json.field("decision_ns", row.decision_time);
    json.key("real_slowdowns").open_list();
    for (const double slowdown : row.real) json.value(slowdown);
    json.close_list().key("simulated_slowdowns").open_list();
    for (const double slowdown : row.simulated) json.value(slowdown);
    json.close_list().close_object();
  }
  json.close_list();
  write_residuals(validation.residuals, json);
  return json.close_object().text();
}

}  // namespace tutti
