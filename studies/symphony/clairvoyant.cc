#include "studies/symphony/clairvoyant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/base/random.h"
#include "tutti/policy/online/openings.h"

namespace tutti {
namespace {

constexpr double kNotFinished = std::numeric_limits<double>::infinity();

class Scripted final : public Decider {
 public:
  explicit Scripted(const Script& script) : script_(script) {}

  void begin(const Cluster& /*cluster*/, uint64_t /*seed*/) override { openings_.reset(); }

  Action decide(const WorldState& state) override {
    if (const auto action = openings_.promised(state)) return *action;
    if (const auto action = next(state)) return *action;
    // The whole cluster is idle and everybody waits for a context that an earlier promise keeps:
    // whatever can be done comes first.
    if (state.busy_slots == 0) {
      legal_actions(state, actions_);
      return actions_.front();
    }
    return Action::nothing();
  }

 private:
  std::optional<Action> next(const WorldState& state) {
    const JobStatus* job = nullptr;
    OpId op;
    Opening opening;
    double least = std::numeric_limits<double>::infinity();
    for (const JobId id : state.in_system) {
      const JobStatus& status = state.job(id);
      const std::vector<ScriptedOp>& lines = script_[id.index];
      for (const OpId ready : status.ready) {
        const ScriptedOp& line = lines[ready.index];
        if (line.key >= least || state.devices[line.device.index].idle_slots == 0 ||
            openings_.is_promised(id, ready))
          continue;
        openings_.list(state, status, ready, list_);
        for (const Opening& open : list_) {
          if (open.device != line.device) continue;
          least = line.key;
          job = &status;
          op = ready;
          opening = open;
        }
      }
    }
    if (job != nullptr) return openings_.take(*job, op, opening, state);
    return prepare(state);
  }

  // Contexts for ops whose producers are all launched.
  std::optional<Action> prepare(const WorldState& state) {
    if (!state.cluster->has_contexts()) return std::nullopt;
    for (const JobId id : state.in_system) {
      const JobStatus& status = state.job(id);
      const std::vector<ScriptedOp>& lines = script_[id.index];
      for (const OpId op : status.job->graph().ops()) {
        const ScriptedOp& line = lines[op.index];
        if (!line.prepares || status.ops[op.index].phase != OpStatus::Phase::waiting ||
            state.devices[line.device.index].idle_slots == 0 ||
            state.cluster->machine().device(line.device).contexts == 0 ||
            openings_.is_promised(id, op) || !producers_launched(status, op) ||
            state.free_slot(line.device, status.job->kind(op)) >= 0)
          continue;
        openings_.list(state, status, op, list_);
        for (const Opening& open : list_) {
          if (open.device == line.device && open.configures)
            return openings_.take(status, op, open, state);
        }
      }
    }
    return std::nullopt;
  }

  static bool producers_launched(const JobStatus& job, OpId op) {
    for (const EdgeId edge : job.job->graph().edges(op)) {
      const OpId from = job.job->graph().edge_from(edge);
      if (from.valid() && job.ops[from.index].phase < OpStatus::Phase::queued) return false;
    }
    return true;
  }

  const Script& script_;
  Openings openings_;
  std::vector<Opening> list_;
  std::vector<Action> actions_;
};

double mean_slowdown(const std::vector<JobRecord>& jobs) {
  double sum = 0;
  for (const JobRecord& job : jobs) sum += job.slowdown();
  return sum / static_cast<double>(jobs.size());
}

// The mean slow-down if what runs ended at once and what has not come were alone.
double least_mean_slowdown(const JobSimulator& sim) {
  double sum = 0;
  for (const JobRecord& job : sim.jobs()) {
    if (job.finish.count() > 0) {
      sum += job.slowdown();
    } else {
      const auto so_far = static_cast<double>((sim.state().now - job.arrival).count());
      sum += std::max(1.0, so_far / static_cast<double>(job.job->critical_path().count()));
    }
  }
  return sum / static_cast<double>(sim.jobs().size());
}

// kNotFinished as soon as it is certain to be more than `limit`, or if it never ends.
double evaluate(JobSimulator& sim, const std::vector<Arrival>& arrivals, uint64_t luck,
                const Script& script, double limit) {
  Scripted decider(script);
  decider.begin(*sim.state().cluster, luck);
  sim.reset(arrivals, luck);
  int64_t ops = 0;
  for (const Arrival& arrival : arrivals) ops += arrival.job->graph().size();
  while (!sim.done()) {
    if (sim.decisions() > 20 * ops) return kNotFinished;  // contexts taken from each other for ever
    if (sim.decisions() % 64 == 63 && least_mean_slowdown(sim) > limit) return kNotFinished;
    const Result<double> done = sim.step(decider.decide(sim.state()));
    TUTTI_CHECK(done.has_value());
  }
  return mean_slowdown(sim.jobs());
}

class Annealer {
 public:
  Annealer(JobSimulator& sim, const std::vector<Arrival>& arrivals, uint64_t luck, Script script,
           double value, uint64_t seed)
      : sim_(sim), arrivals_(arrivals), luck_(luck), rng_(seed), now_(std::move(script)) {
    now_value_ = best_value_ = value;
    for (size_t j = 0; j < arrivals.size(); ++j) {
      for (int32_t op = 0; op < arrivals[j].job->graph().size(); ++op) ops_.emplace_back(j, op);
    }
  }

  void run(int64_t evaluations) {
    const double hot = 0.02 * best_value_;
    for (int64_t i = 0; i < evaluations; ++i) {
      const double heat =
          hot * std::pow(1e-3, static_cast<double>(i) / static_cast<double>(evaluations));
      Script next = now_;
      const uint64_t changes = 1 + rng_.below(3);
      for (uint64_t c = 0; c < changes; ++c) change(next);
      const double limit = now_value_ + heat * rng_.exponential();
      const double value = evaluate(sim_, arrivals_, luck_, next, limit);
      if (value > limit) continue;
      now_ = std::move(next);
      now_value_ = value;
      if (value >= best_value_) continue;
      best_value_ = value;
      best_jobs_ = sim_.jobs();
    }
  }

  double best_value() const { return best_value_; }
  // Empty: nothing better than the start was found.
  std::vector<JobRecord> take_best() { return std::move(best_jobs_); }

 private:
  void change(Script& script) {
    const auto& [j, index] = ops_[rng_.below(ops_.size())];
    const Job& job = *arrivals_[j].job;
    const OpId op{index};
    ScriptedOp& line = script[j][op.index];
    const auto devices = job.devices_for(op);
    const DeviceId device = devices[rng_.below(devices.size())];
    switch (rng_.below(6)) {
      case 0:
      case 1:
        line.device = device;
        break;
      case 2:  // the op changes places in time with another
        std::swap(line.key, other_line(script).key);
        break;
      case 3:  // just before or behind another
        line.key = std::nextafter(other_line(script).key, rng_.below(2) == 0 ? -1e300 : 1e300);
        break;
      case 4:  // all of its kind in the job
        for (const OpId same : job.graph().ops()) {
          if (job.kind(same) == job.kind(op) && job.problem().allows(same, device))
            script[j][same.index].device = device;
        }
        break;
      default:
        line.prepares = !line.prepares;
        break;
    }
  }
  ScriptedOp& other_line(Script& script) {
    const auto& [j, op] = ops_[rng_.below(ops_.size())];
    return script[j][op];
  }

  JobSimulator& sim_;
  const std::vector<Arrival>& arrivals_;
  uint64_t luck_;
  Rng rng_;
  Script now_;
  double now_value_ = 0;
  double best_value_ = 0;
  std::vector<JobRecord> best_jobs_;
  std::vector<std::pair<size_t, int32_t>> ops_;  // of all jobs
};

// Calls `visit` with every order in which the ops can begin.
template <class Visit>
void visit_orders(const Graph& graph, std::vector<OpId>& order, std::vector<uint8_t>& used,
                  Visit& visit) {
  if (order.size() == static_cast<size_t>(graph.size())) {
    visit(order);
    return;
  }
  for (const OpId op : graph.ops()) {
    if (used[op.index] != 0) continue;
    bool ready = true;
    for (const EdgeId edge : graph.edges(op)) {
      const OpId from = graph.edge_from(edge);
      ready = ready && (!from.valid() || used[from.index] != 0);
    }
    if (!ready) continue;
    used[op.index] = 1;
    order.push_back(op);
    visit_orders(graph, order, used, visit);
    order.pop_back();
    used[op.index] = 0;
  }
}

}  // namespace

Script script_of(const std::vector<JobRecord>& jobs) {
  Script script;
  for (const JobRecord& job : jobs) {
    std::vector<ScriptedOp>& lines =
        script.emplace_back(static_cast<size_t>(job.job->graph().size()));
    TUTTI_CHECK(job.trace.ops.size() == lines.size());
    for (const OpSpan& span : job.trace.ops)
      lines[span.op.index] = {span.device, static_cast<double>(span.start.count())};
  }
  return script;
}

Clairvoyant find_clairvoyant(JobSimulator& sim, const std::vector<Arrival>& arrivals, uint64_t luck,
                             std::span<const JobsRecord> starts,
                             const ClairvoyantOptions& options) {
  TUTTI_CHECK(!starts.empty());
  Clairvoyant best;
  best.mean_slowdown = kNotFinished;
  Script script;
  double script_value = kNotFinished;
  for (const JobsRecord& start : starts) {
    if (const double value = mean_slowdown(start.jobs); value < best.mean_slowdown) {
      best.mean_slowdown = value;
      best.jobs = start.jobs;
    }
    // A script does not repeat a run exactly: its ops do not wait by choice.
    Script its = script_of(start.jobs);
    const double value = evaluate(sim, arrivals, luck, its, kNotFinished);
    ++best.evaluations;
    if (value >= script_value) continue;
    script_value = value;
    script = std::move(its);
    if (value >= best.mean_slowdown) continue;
    best.mean_slowdown = value;
    best.jobs = sim.jobs();
  }
  if (script_value == kNotFinished) return best;
  Annealer annealer(sim, arrivals, luck, std::move(script), script_value, options.seed);
  annealer.run(options.evaluations - best.evaluations);
  best.evaluations = std::max(best.evaluations, options.evaluations);
  if (annealer.best_value() < best.mean_slowdown) {
    best.mean_slowdown = annealer.best_value();
    best.jobs = annealer.take_best();
  }
  return best;
}

Result<Clairvoyant> find_exhaustively(JobSimulator& sim, const std::shared_ptr<const Job>& job,
                                      uint64_t luck, int64_t most) {
  const Graph& graph = job->graph();
  double placements = 1;
  for (const OpId op : graph.ops()) placements *= static_cast<double>(job->devices_for(op).size());
  int64_t orders = 0;
  std::vector<OpId> order;
  std::vector<uint8_t> used(static_cast<size_t>(graph.size()), 0);
  const std::vector<Arrival> arrivals = {{Duration(0), job}};
  const auto too_many = [&](double count) {
    return invalid_input(
        fmt::format("job '{}' has about {:.0f} schedules; at most {} are tried one "
                    "by one",
                    job->name(), count, most));
  };
  if (placements > static_cast<double>(most)) return too_many(placements);
  auto count = [&](const std::vector<OpId>&) { ++orders; };
  visit_orders(graph, order, used, count);
  // Twice: with and without preparing contexts.
  const double all = 2 * placements * static_cast<double>(orders);
  if (all > static_cast<double>(most)) return too_many(all);
  Clairvoyant best;
  best.mean_slowdown = kNotFinished;
  best.exhaustive = true;
  Script script(1, std::vector<ScriptedOp>(static_cast<size_t>(graph.size())));
  std::vector<size_t> digits(static_cast<size_t>(graph.size()), 0);
  auto try_order = [&](const std::vector<OpId>& ops) {
    for (size_t i = 0; i < ops.size(); ++i) script[0][ops[i].index].key = static_cast<double>(i);
    for (const bool prepares : {false, true}) {
      for (ScriptedOp& line : script[0]) line.prepares = prepares;
      ++best.evaluations;
      const double value = evaluate(sim, arrivals, luck, script, best.mean_slowdown);
      if (value >= best.mean_slowdown) continue;
      best.mean_slowdown = value;
      best.jobs = sim.jobs();
    }
  };
  for (;;) {
    for (const OpId op : graph.ops())
      script[0][op.index].device = job->devices_for(op)[digits[op.index]];
    visit_orders(graph, order, used, try_order);
    size_t at = 0;
    while (at < digits.size() &&
           ++digits[at] == job->devices_for(OpId{static_cast<int32_t>(at)}).size())
      digits[at++] = 0;
    if (at == digits.size()) return best;
  }
}

}  // namespace tutti
