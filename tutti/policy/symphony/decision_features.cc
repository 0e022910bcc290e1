#include "tutti/policy/symphony/decision_features.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// More ready ops than this are not looked at: the oldest jobs' come first.
constexpr size_t kMostOps = 48;
constexpr int kNotAsked = -2;
// What is overdue is taken to be done after this share of its run time.
constexpr double kOverdueShare = 0.1;

float log_ratio(double ratio) {
  return static_cast<float>(std::log(std::max(ratio, 1e-3)));
}
size_t area_of(int32_t rows, int columns) {
  return static_cast<size_t>(rows) * static_cast<size_t>(columns);
}
float log_more(double amount) {
  return static_cast<float>(std::log1p(std::max(amount, 0.0)));
}

}  // namespace

void DecisionFeatures::clear() {
  jobs.clear();
  ops.clear();
  options.clear();
  option_rows.clear();
  draws.clear();
  reconfigured.clear();
  reconfigure_rows.clear();
  executions.clear();
  actions.clear();
  may_rest = false;
}

FeatureMaker::FeatureMaker(const Cluster& cluster, const Topology& topology)
    : cluster_(cluster),
      topology_(topology),
      own_now_(static_cast<size_t>(topology.size()), 0.0F),
      own_before_(own_now_) {}

const JobRows& FeatureMaker::rows(const JobStatus& job) {
  const auto found = rows_.find(job.id);
  if (found != rows_.end()) return found->second;
  return rows_.emplace(job.id, rows_of(cluster_, *job.job)).first->second;
}

void FeatureMaker::make(const WorldState& state, bool always_work, DecisionFeatures& features) {
  if (state.epoch != epoch_) {
    epoch_ = state.epoch;
    own_before_ = own_now_;  // as it was after the last decision
    std::erase_if(rows_, [&](const auto& item) { return state.jobs[item.first.index] == nullptr; });
  }
  features.clear();
  free_slots_.assign(state.pending.size() * static_cast<size_t>(topology_.devices()), kNotAsked);
  look_at_devices(state, features);
  double age = 0;
  int ready = 0;
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    features.jobs.push_back(id.index);
    age += log_more(static_cast<double>((state.now - job.arrival).count()) /
                    rows(job).critical_path_ns);
    ready += static_cast<int>(job.ready.size());
    for (const OpId op : job.ready) {
      if (features.ops.size() < kMostOps) add_options(state, job, op, features);
    }
  }
  add_reconfigurations(state, features);
  const bool idle = state.busy_slots == 0;
  features.may_rest = features.actions.empty() || (!idle && !always_work);
  if (features.may_rest) features.actions.push_back(Action::nothing());
  TUTTI_CHECK(!idle || features.actions[0].kind != Action::Kind::no_op);
  const auto jobs = static_cast<double>(std::max<size_t>(1, features.jobs.size()));
  const auto options = static_cast<float>(std::max<size_t>(1, features.options.size()));
  features.overall.assign(
      {log_more(static_cast<double>(features.jobs.size())) / 3, log_more(ready) / 4,
       static_cast<float>(state.busy_slots) / static_cast<float>(state.slots.size()),
       static_cast<float>(age / jobs) / 2,
       static_cast<float>(features.executions.size()) / options});
}

// What runs where, and what it draws.
void FeatureMaker::look_at_devices(const WorldState& state, DecisionFeatures& features) {
  const Machine& machine = cluster_.machine();
  drawn_.assign(static_cast<size_t>(cluster_.resources().size()), 0.0);
  flows_.assign(drawn_.size(), 0);
  remaining_.assign(state.slots.size(), 0.0);
  const auto vertices = static_cast<size_t>(topology_.size());
  features.status.assign(vertices * kVertexStatus, 0.0F);
  for (const DeviceId device : machine.devices()) {
    const Device& item = machine.device(device);
    int busy = 0;
    int changing = 0;
    double first = 1e18;
    for (int s = 0; s < item.slots; ++s) {
      const int32_t slot = cluster_.first_slot(device) + s;
      const SlotStatus& status = state.slots[slot];
      double& left = remaining_[slot];
      double whole = 0;
      if (status.phase == SlotStatus::Phase::busy) {
        const JobStatus& job = state.job(status.job);
        whole = static_cast<double>(job.job->costs().run_time(status.op, device).count());
        for (const Draw& draw : running_draws(state, slot)) {
          drawn_[draw.resource] += draw.amount / cluster_.resources()[draw.resource].capacity;
          ++flows_[draw.resource];
        }
        ++busy;
      } else if (status.phase == SlotStatus::Phase::reconfiguring) {
        whole = static_cast<double>(item.reconfiguration_time.count());
        ++changing;
      }
      const auto passed = static_cast<double>((state.now - status.since).count());
      if (whole > 0) left = std::max(whole - passed, kOverdueShare * whole);
      first = std::min(first, left);
    }
    float* row = &features.status[static_cast<size_t>(device.index) * kVertexStatus];
    row[0] = static_cast<float>(busy) / static_cast<float>(item.slots);
    row[2] = static_cast<float>(changing) / static_cast<float>(item.slots);
    row[3] = first > 0 ? log_of_time(first) : 0;
  }
  own_now_.assign(vertices, 0.0F);
  for (int32_t r = 0; r < cluster_.resources().size(); ++r)
    own_now_[static_cast<size_t>(topology_.vertex_of_shared(r))] = static_cast<float>(drawn_[r]);
  for (size_t v = 0; v < vertices; ++v)
    features.status[v * kVertexStatus + 1] = std::min(own_now_[v], 3.0F);
  features.own_before = own_before_;
  features.unseen.assign(vertices, 0.0F);
}

int FeatureMaker::free_slot(const WorldState& state, DeviceId device, OpKindId kind) {
  int& slot =
      free_slots_[area_of(kind.index, topology_.devices()) + static_cast<size_t>(device.index)];
  if (slot == kNotAsked) slot = state.free_slot(device, kind);
  return slot;
}

FeatureMaker::Wait FeatureMaker::wait_for(const WorldState& state, DeviceId device, OpKindId kind,
                                          int slot) const {
  const int32_t first = cluster_.first_slot(device);
  if (slot >= 0) return {0, first + slot};
  const Device& item = cluster_.machine().device(device);
  Wait least{1e18, first};
  for (int32_t at = first; at < first + item.slots; ++at) {
    const bool changes = item.contexts > 0 && state.slots[at].configured != kind;
    const double ns =
        remaining_[at] + (changes ? static_cast<double>(item.reconfiguration_time.count()) : 0);
    if (ns < least.ns) least = {ns, at};
  }
  return least;
}

// What the op that has the slot draws; nothing if there is none.
std::span<const Draw> FeatureMaker::running_draws(const WorldState& state, int32_t slot) const {
  const SlotStatus& status = state.slots[slot];
  if (status.phase != SlotStatus::Phase::busy) return {};
  return cluster_.draws(state.job(status.job).job->kind(status.op), slot);
}

void FeatureMaker::add_options(const WorldState& state, const JobStatus& job, OpId op,
                               DecisionFeatures& features) {
  const OpKindId kind = job.job->kind(op);
  const auto devices = job.job->devices_for(op);
  if (std::none_of(devices.begin(), devices.end(),
                   [&](DeviceId device) { return free_slot(state, device, kind) >= 0; })) {
    return;
  }
  const JobRows& rows_of_job = rows(job);
  const auto least = static_cast<double>(job.job->least_run_time(op).count());
  const auto place = static_cast<int32_t>(features.ops.size());
  features.ops.push_back({job.id.index, op.index});
  for (const DeviceId device : devices) {
    const int slot = free_slot(state, device, kind);
    const Wait waits = wait_for(state, device, kind, slot);
    const double wait = waits.ns / least;
    const auto fetch = static_cast<double>(state.fetch_time(job, op, device).count()) / least;
    const auto run = static_cast<double>(job.job->costs().run_time(op, device).count()) / least;
    DecisionFeatures::Option option{.op = place,
                                    .device = device.index,
                                    .before = static_cast<float>(wait + fetch),
                                    .run = static_cast<float>(std::max(run, 1.0)),
                                    .first_draw = static_cast<int32_t>(features.draws.size())};
    for (const Draw& draw : cluster_.draws(kind, waits.slot)) {
      const double capacity = cluster_.resources()[draw.resource].capacity;
      double own = drawn_[draw.resource];
      int flows = flows_[draw.resource];
      for (const Draw& gone : running_draws(state, waits.slot)) {
        if (gone.resource != draw.resource) continue;
        own -= gone.amount / capacity;
        --flows;
      }
      const DecisionFeatures::VertexDraw drawn{.vertex = topology_.vertex_of_shared(draw.resource),
                                               .share = static_cast<float>(draw.amount / capacity),
                                               .own = static_cast<float>(own),
                                               .flows = static_cast<float>(flows)};
      option.crowd_own =
          std::max(option.crowd_own, slower_by(drawn.share, drawn.own, drawn.flows, 0));
      features.draws.push_back(drawn);
    }
    option.end_draw = static_cast<int32_t>(features.draws.size());
    if (slot >= 0) {
      features.executions.push_back(static_cast<int32_t>(features.options.size()));
      features.actions.push_back(Action::execute(job.id, op, device));
    }
    features.options.push_back(option);
    const float row[kOptionRow] = {
        log_ratio(run),
        log_more(fetch),
        log_more(wait),
        static_cast<float>(rows_of_job.rank_ns[op.index] / rows_of_job.critical_path_ns),
        log_of_time(least),
        log_of_time(rows_of_job.rank_ns[op.index]),
        static_cast<float>(job.left) / static_cast<float>(rows_of_job.ops),
        log_more(static_cast<double>((state.now - job.arrival).count()) /
                 rows_of_job.critical_path_ns) /
            2,
        slot >= 0 ? 1.0F : 0.0F,
    };
    features.option_rows.insert(features.option_rows.end(), row, row + kOptionRow);
  }
}

// How much quicker an op of that kind would be there than on the best of the other devices: by the
// first such op that waits.
double FeatureMaker::gain(const WorldState& state, DeviceId device, OpKindId kind) const {
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    for (const OpId op : job.job->graph().ops()) {
      const OpStatus::Phase phase = job.ops[op.index].phase;
      if (job.job->kind(op) != kind ||
          (phase != OpStatus::Phase::ready && phase != OpStatus::Phase::waiting)) {
        continue;
      }
      double here = 1;
      double elsewhere = 1e18;
      for (const DeviceId other : job.job->devices_for(op)) {
        const auto run = static_cast<double>(job.job->costs().run_time(op, other).count());
        if (other == device) {
          here = std::max(run, 1.0);
        } else {
          elsewhere = std::min(elsewhere, run);
        }
      }
      return std::clamp(std::log(elsewhere / here), -5.0, 5.0);
    }
  }
  return 0;
}

void FeatureMaker::add_reconfigurations(const WorldState& state, DecisionFeatures& features) {
  if (!cluster_.has_contexts()) return;
  for (const DeviceId device : cluster_.machine().devices()) {
    const Device& item = cluster_.machine().device(device);
    for (int context = 0; context < item.contexts; ++context) {
      for (int32_t k = 0; k < static_cast<int32_t>(state.pending.size()); ++k) {
        const Action action = Action::reconfigure(device, context, OpKindId{k});
        const SlotStatus& slot = state.slot(device, context);
        if (slot.phase != SlotStatus::Phase::idle || slot.configured == OpKindId{k} ||
            state.pending[k] == 0 || !cluster_.runs(OpKindId{k}, device))
          continue;
        const int32_t losers = slot.configured.valid() ? state.pending[slot.configured.index] : 0;
        const float row[kReconfigureRow] = {
            log_more(state.pending[k]) / 2, static_cast<float>(gain(state, device, OpKindId{k})),
            log_of_time(static_cast<double>(item.reconfiguration_time.count())),
            log_more(losers) / 2};
        features.reconfigured.push_back(device.index);
        features.reconfigure_rows.insert(features.reconfigure_rows.end(), row,
                                         row + kReconfigureRow);
        features.actions.push_back(action);
      }
    }
  }
}

}  // namespace tutti
