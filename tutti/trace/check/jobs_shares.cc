#include <algorithm>
#include <limits>

#include "tutti/trace/check/job_rules.h"

namespace tutti::job_rules {
namespace {

// An op or a hop of a transfer, as the model of shared resources sees it.
struct Flow {
  const JobFacts* job = nullptr;
  const OpSpan* op = nullptr;  // null: a hop
  const TransferSpan* hop = nullptr;
  std::vector<Draw> draws{};
  Duration joins{0};  // of a hop: after its latency
  Duration leaves{0};
  double work = 0;  // nanoseconds at full speed
  double done = 0;
  double speed = 0;

  std::string name() const {
    if (op != nullptr) return job->name(op->op);
    return fmt::format("hop {} of value '{}' of job {}", hop->hop,
                       job->graph().value_name(hop->value), job->record->id.index);
  }
};

Flow op_flow(const Case& trial, const JobFacts& job, const OpSpan& span) {
  const Job& its = *job.record->job;
  const auto draws =
      trial.cluster.draws(its.kind(span.op), trial.cluster.first_slot(span.device) + span.slot);
  return {.job = &job,
          .op = &span,
          .draws = {draws.begin(), draws.end()},
          .joins = span.start,
          .leaves = span.finish,
          .work = static_cast<double>(its.costs().run_time(span.op, span.device).count())};
}

Flow hop_flow(const Case& trial, const JobFacts& job, const TransferSpan& span) {
  const Route& route = *trial.machine().route(span.from, span.to);
  const Hop& hop = route.hops[span.hop];
  const MemoryId from = span.hop == 0 ? span.from : route.hops[span.hop - 1].to;
  Flow flow{.job = &job, .hop = &span, .joins = span.start + hop.latency, .leaves = span.finish};
  flow.work = static_cast<double>(job.graph().bytes(span.value)) * hop.ns_per_byte;
  if (hop.ns_per_byte > 0)
    trial.cluster.resources().add_hop(from, hop, 1e9 / hop.ns_per_byte, flow.draws);
  return flow;
}

// Whether the graph gives that time for the transfer; any time, if it was drawn.
bool takes_given_time(const Case& trial, const JobFacts& job, const TransferSpan& span) {
  const Costs& costs = job.record->job->costs();
  const OpId producer = job.graph().producer(span.value);
  const OpSpan* from = producer.valid() ? job.spans[producer.index] : nullptr;
  if (from == nullptr || !costs.has_given_transfers()) return false;
  const bool drawn = trial.rules.noise && !costs.transfer_noise().none();
  for (const EdgeId edge : job.graph().consumers(span.value)) {
    const OpSpan* to = job.spans[job.graph().edge_to(edge).index];
    if (to == nullptr || trial.machine().memory_of(to->device) != span.to) continue;
    const auto given = costs.given_transfer(edge, from->device, to->device);
    if (given && (drawn || *given == span.finish - span.start)) return true;
  }
  return !job.ended;
}

// The speeds at which dominant shares are max-min fair, by progressive filling: all rise together;
// a flow stops at full speed, or with the first resource that it fills.
class Filling {
 public:
  explicit Filling(std::span<const double> capacities) : capacities_(capacities) {}

  void set_speeds(const std::vector<Flow*>& flows) {
    left_.assign(capacities_.begin(), capacities_.end());
    rising_.clear();
    for (Flow* flow : flows) {
      double dominant = 0;
      for (const Draw& draw : flow->draws)
        dominant = std::max(dominant, draw.amount / capacities_[draw.resource]);
      flow->speed = 1;
      if (dominant > 0) rising_.emplace_back(dominant, flow);
    }
    while (!rising_.empty()) stop_some();
  }

 private:
  // Those that stop first, at the level to which shares can rise.
  void stop_some() {
    asked_.assign(left_.size(), 0.0);  // by resource, at a level of 1
    double level = std::numeric_limits<double>::infinity();
    for (const auto& [dominant, flow] : rising_) {
      level = std::min(level, dominant);
      for (const Draw& draw : flow->draws) asked_[draw.resource] += draw.amount / dominant;
    }
    for (size_t r = 0; r < left_.size(); ++r) {
      if (asked_[r] > 0) level = std::min(level, std::max(0.0, left_[r]) / asked_[r]);
    }
    const double reached = level * (1 + 1e-9);  // equal but for rounding
    std::vector<std::pair<double, Flow*>> stopped;
    std::erase_if(rising_, [&](const auto& one) {
      const bool stops =
          one.first <= reached ||
          std::any_of(one.second->draws.begin(), one.second->draws.end(), [&](const Draw& draw) {
            return left_[draw.resource] <= reached * asked_[draw.resource];
          });
      if (stops) stopped.push_back(one);
      return stops;
    });
    for (const auto& [dominant, flow] : stopped) {
      flow->speed = std::min(1.0, level / dominant);
      for (const Draw& draw : flow->draws) left_[draw.resource] -= draw.amount * flow->speed;
    }
  }

  std::span<const double> capacities_;
  std::vector<double> left_;
  std::vector<double> asked_;
  std::vector<std::pair<double, Flow*>> rising_;  // with their dominant shares at full speed
};

// Ends are rounded up to whole nanoseconds.
void check_done(const Flow& flow, Verdict& verdict) {
  const double slack = 2 * flow.speed + 1e-8 * flow.work + 1e-3;
  if (flow.done < flow.work - slack) {
    verdict.add(
        "{} ended at {} ns, when its share had done {:.0f} of its {:.0f} ns of work: it was "
        "faster than its share",
        flow.name(), flow.leaves.count(), flow.done, flow.work);
  } else if (flow.done > flow.work + slack) {
    verdict.add(
        "{} ended at {} ns, when its share could have done {:.0f} ns of work and not only "
        "its {:.0f}: it was slower than its share",
        flow.name(), flow.leaves.count(), flow.done, flow.work);
  }
}

std::vector<Flow> all_flows(const Case& trial) {
  std::vector<Flow> flows;
  for (const JobFacts& job : trial.jobs) {
    for (const OpSpan& span : job.record->trace.ops) flows.push_back(op_flow(trial, job, span));
    for (const TransferSpan& span : job.record->trace.transfers) {
      if (!span.given) flows.push_back(hop_flow(trial, job, span));
    }
  }
  return flows;
}

void divide(std::span<const double> capacities, std::vector<Flow>& flows, Verdict& verdict) {
  struct Event {
    Duration time{0};
    bool joins = false;
    Flow* flow = nullptr;
  };
  std::vector<Event> events;
  for (Flow& flow : flows) {
    if (flow.joins >= flow.leaves) {
      check_done(flow, verdict);
      continue;
    }
    events.push_back({flow.joins, true, &flow});
    events.push_back({flow.leaves, false, &flow});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  Filling filling(capacities);
  std::vector<Flow*> active;
  Duration now{0};
  for (size_t i = 0; i < events.size();) {
    const auto elapsed = static_cast<double>((events[i].time - now).count());
    for (Flow* flow : active) flow->done += flow->speed * elapsed;
    now = events[i].time;
    for (; i < events.size() && events[i].time == now; ++i) {
      if (events[i].joins) {
        active.push_back(events[i].flow);
      } else {
        check_done(*events[i].flow, verdict);
        std::erase(active, events[i].flow);
      }
    }
    filling.set_speeds(active);
  }
}

}  // namespace

void check_run_times(const Case& trial, Verdict& verdict) {
  if (trial.rules.measured)
    return verdict.set_aside("run times", "times are measured, and costs only predict them");
  verdict.begin("run times");
  const auto check = [&](const Flow& flow, const Noise& noise) {
    const double least =
        flow.work * (trial.rules.noise && !noise.none() ? noise.least_factor() : 1.0);
    const auto took = static_cast<double>((flow.leaves - flow.joins).count());
    if (took >= least * (1 - 1e-9) - 1e-3) return;
    verdict.add("{} took {:.0f} ns, less than the {:.0f} ns that it needs alone", flow.name(), took,
                least);
  };
  for (const JobFacts& job : trial.jobs) {
    const Costs& costs = job.record->job->costs();
    for (const OpSpan& span : job.record->trace.ops) {
      if (!costs.can_run(span.op, span.device)) continue;  // told already
      check(op_flow(trial, job, span), costs.run_time_noise(span.op, span.device));
    }
    for (const TransferSpan& span : job.record->trace.transfers) {
      if (!span.given) {
        check(hop_flow(trial, job, span), costs.transfer_noise());
        continue;
      }
      if (takes_given_time(trial, job, span)) continue;
      verdict.add("value '{}' of job {} was sent in {} ns, which is not the time given for it",
                  job.graph().value_name(span.value), job.record->id.index,
                  (span.finish - span.start).count());
    }
  }
}

void check_shares(const Case& trial, Verdict& verdict) {
  const auto aside = [&](const char* reason) { verdict.set_aside("shares", reason); };
  if (trial.rules.measured)
    return aside(
        "times are measured: what else used the machine, and what its resources really "
        "carry, is not known");
  if (trial.rules.hidden_load) return aside("processes that are not in the record used resources");
  if (trial.rules.noise)
    return aside("durations were drawn: how much work each op and hop stood for is not known");
  if (trial.known_until < kNever)
    return aside("a job has not ended: what its last ops drew is not recorded");
  for (const JobFacts& job : trial.jobs) {
    for (const OpSpan& span : job.record->trace.ops) {
      if (!job.record->job->costs().can_run(span.op, span.device))
        return aside("an op ran where it cannot run");
    }
  }
  verdict.begin("shares");
  std::vector<double> capacities = trial.rules.capacities;
  if (capacities.empty()) {
    for (const SharedResource& item : trial.cluster.resources().list())
      capacities.push_back(item.capacity);
  }
  if (capacities.size() != trial.cluster.resources().list().size())
    return verdict.add("capacities of {} resources were given, but the cluster has {}",
                       capacities.size(), trial.cluster.resources().list().size());
  std::vector<Flow> flows = all_flows(trial);
  divide(capacities, flows, verdict);
}

}  // namespace tutti::job_rules
