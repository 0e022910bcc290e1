#include "tutti/policy/online/graphene.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace tutti {
namespace {

constexpr int64_t kFar = int64_t{1} << 60;  // ns: virtual time may be negative

// A schedule in which ops are placed in any order, before or behind what is there.
class VirtualSchedule {
 public:
  VirtualSchedule(const Cluster& cluster, const Job& job) : cluster_(cluster), job_(job) {
    busy_.resize(static_cast<size_t>(cluster.slot_count()));
    placed_.resize(static_cast<size_t>(job.graph().size()));
  }

  // Behind its placed producers, where it ends first.
  void place_forward(OpId op) {
    Spot best{.start = kFar, .finish = kFar};
    for (const DeviceId device : job_.devices_for(op)) {
      const int64_t time = job_.costs().run_time(op, device).count();
      int64_t from = 0;
      for (const EdgeId edge : job_.graph().edges(op)) {
        const OpId producer = job_.graph().edge_from(edge);
        if (!producer.valid() || placed_[producer.index].slot < 0) continue;
        const Spot& spot = placed_[producer.index];
        const DeviceId source = cluster_.device_of_slot(spot.slot);
        from =
            std::max(from, spot.finish + job_.costs().transfer_time(edge, source, device).count());
      }
      for (int32_t slot : slots_of(device)) {
        const int64_t start = first_gap(slot, from, time);
        if (start + time < best.finish) best = {slot, start, start + time};
      }
    }
    put(op, best);
  }

  // Before its placed consumers, where it begins last.
  void place_backward(OpId op) {
    Spot best{.start = -kFar, .finish = -kFar};
    for (const DeviceId device : job_.devices_for(op)) {
      const int64_t time = job_.costs().run_time(op, device).count();
      int64_t until = kFar;
      for (const EdgeId edge : job_.graph().out_edges(op)) {
        const Spot& spot = placed_[job_.graph().edge_to(edge).index];
        if (spot.slot < 0) continue;
        const DeviceId target = cluster_.device_of_slot(spot.slot);
        until =
            std::min(until, spot.start - job_.costs().transfer_time(edge, device, target).count());
      }
      if (until == kFar) until = 0;  // nothing to be before: anywhere
      for (int32_t slot : slots_of(device)) {
        const int64_t finish = last_gap(slot, until, time);
        if (finish - time > best.start) best = {slot, finish - time, finish};
      }
    }
    put(op, best);
  }

  int64_t start(OpId op) const { return placed_[op.index].start; }
  int64_t length() const {
    int64_t first = kFar;
    int64_t last = -kFar;
    for (const Spot& spot : placed_) {
      first = std::min(first, spot.start);
      last = std::max(last, spot.finish);
    }
    return last - first;
  }

 private:
  struct Spot {
    int32_t slot = -1;
    int64_t start = 0;
    int64_t finish = 0;
  };

  std::vector<int32_t> slots_of(DeviceId device) const {
    std::vector<int32_t> slots(static_cast<size_t>(cluster_.machine().device(device).slots));
    std::iota(slots.begin(), slots.end(), cluster_.first_slot(device));
    return slots;
  }
  int64_t first_gap(int32_t slot, int64_t from, int64_t time) const {
    for (const Spot& spot : busy_[slot]) {
      if (from + time <= spot.start) break;
      from = std::max(from, spot.finish);
    }
    return from;
  }
  int64_t last_gap(int32_t slot, int64_t until, int64_t time) const {
    const std::vector<Spot>& here = busy_[slot];
    for (auto spot = here.rbegin(); spot != here.rend(); ++spot) {
      if (until - time >= spot->finish) break;
      until = std::min(until, spot->start);
    }
    return until;
  }
  void put(OpId op, const Spot& spot) {
    placed_[op.index] = spot;
    std::vector<Spot>& here = busy_[spot.slot];
    here.insert(std::upper_bound(here.begin(), here.end(), spot,
                                 [](const Spot& a, const Spot& b) { return a.start < b.start; }),
                spot);
  }

  const Cluster& cluster_;
  const Job& job_;
  std::vector<std::vector<Spot>> busy_;  // by slot, by time
  std::vector<Spot> placed_;             // by op
};

// T: troublesome; O: unrelated to them; P: their ancestors; C: their descendants.
enum class Part : uint8_t { T, O, P, C };

// Troublesome ops, what lies between them, and how the rest relates to them.
std::vector<Part> divide(const Graph& graph, const std::vector<double>& score, double threshold) {
  const auto count = static_cast<size_t>(graph.size());
  std::vector<uint8_t> behind(count, 0);  // has a troublesome ancestor or is one
  std::vector<uint8_t> before(count, 0);  // has a troublesome descendant or is one
  const auto order = graph.topological_order();
  for (const OpId op : order) {
    bool is = score[op.index] >= threshold;
    for (const EdgeId edge : graph.edges(op)) {
      const OpId from = graph.edge_from(edge);
      if (from.valid() && behind[from.index] != 0) is = true;
    }
    behind[op.index] = is ? 1 : 0;
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    bool is = score[it->index] >= threshold;
    for (const EdgeId edge : graph.out_edges(*it))
      is = is || before[graph.edge_to(edge).index] != 0;
    before[it->index] = is ? 1 : 0;
  }
  std::vector<Part> parts;
  for (size_t i = 0; i < count; ++i) {
    parts.push_back(behind[i] != 0 ? (before[i] != 0 ? Part::T : Part::C)
                                   : (before[i] != 0 ? Part::P : Part::O));
  }
  return parts;
}

// The four orders of the paper, none of which can get stuck; O goes forwards unless C stands
// already.
constexpr std::array<std::array<Part, 4>, 4> kOrders = {{{Part::T, Part::O, Part::P, Part::C},
                                                         {Part::T, Part::O, Part::C, Part::P},
                                                         {Part::T, Part::P, Part::O, Part::C},
                                                         {Part::T, Part::C, Part::O, Part::P}}};

VirtualSchedule schedule(const Cluster& cluster, const Job& job, const std::vector<Part>& parts,
                         const std::array<Part, 4>& order) {
  VirtualSchedule made(cluster, job);
  const auto ops = job.graph().topological_order();
  for (const Part part : order) {
    const bool backward = part == Part::P || (part == Part::O && order[1] == Part::C);
    if (backward) {
      for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
        if (parts[it->index] == part) made.place_backward(*it);
      }
    } else {
      for (const OpId op : ops) {
        if (parts[op.index] == part) made.place_forward(op);
      }
    }
  }
  return made;
}

// The larger of how long it is (of the longest) and the largest share it takes of a resource, on
// its quickest device.
std::vector<double> troublesome_scores(const Cluster& cluster, const Job& job) {
  Duration longest{1};
  for (const OpId op : job.graph().ops()) longest = std::max(longest, job.least_run_time(op));
  std::vector<double> scores;
  for (const OpId op : job.graph().ops()) {
    const Duration least = job.least_run_time(op);
    double score = static_cast<double>(least.count()) / static_cast<double>(longest.count());
    for (const DeviceId device : job.devices_for(op)) {
      if (job.costs().run_time(op, device) > least) continue;
      for (const Draw& draw : cluster.draws(job.kind(op), cluster.first_slot(device))) {
        const double share = draw.amount / cluster.resources()[draw.resource].capacity;
        score = std::max(score, std::min(1.0, share));
      }
    }
    scores.push_back(score);
  }
  return scores;
}

}  // namespace

std::vector<double> graphene_order(const Cluster& cluster, const Job& job) {
  const std::vector<double> scores = troublesome_scores(cluster, job);
  std::vector<int64_t> starts;
  int64_t best = std::numeric_limits<int64_t>::max();
  for (const double threshold : {0.2, 0.4, 0.6, 0.8, 1.0}) {
    const std::vector<Part> parts = divide(job.graph(), scores, threshold);
    for (const auto& order : kOrders) {
      const VirtualSchedule made = schedule(cluster, job, parts, order);
      if (made.length() >= best) continue;
      best = made.length();
      starts.clear();
      for (const OpId op : job.graph().ops()) starts.push_back(made.start(op));
    }
  }
  std::vector<size_t> by_start(starts.size());
  std::iota(by_start.begin(), by_start.end(), size_t{0});
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](size_t a, size_t b) { return starts[a] < starts[b]; });
  std::vector<double> order(starts.size(), 1.0);
  for (size_t i = 0; i < by_start.size(); ++i) {
    order[by_start[i]] = 1 - static_cast<double>(i) / static_cast<double>(by_start.size());
  }
  return order;
}

void Graphene::on_begin(const Cluster& /*cluster*/, uint64_t /*seed*/) {
  orders_.clear();
}

const std::vector<double>& Graphene::order(const Cluster& cluster,
                                           const std::shared_ptr<const Job>& job) {
  const auto found = orders_.find(job);
  if (found != orders_.end()) return found->second;
  return orders_.emplace(job, graphene_order(cluster, *job)).first->second;
}

void Graphene::find_free(const WorldState& state) {
  const Cluster& cluster = *state.cluster;
  free_.assign(static_cast<size_t>(cluster.resources().size()), 1.0);
  for (int32_t slot = 0; slot < cluster.slot_count(); ++slot) {
    const SlotStatus& status = state.slots[slot];
    if (status.phase != SlotStatus::Phase::busy) continue;
    const OpKindId kind = state.job(status.job).job->kind(status.op);
    for (const Draw& draw : cluster.draws(kind, slot))
      free_[draw.resource] -= draw.amount / cluster.resources()[draw.resource].capacity;
  }
  for (double& share : free_) share = std::max(0.0, share);
}

double Graphene::packing(const WorldState& state, OpKindId kind, const Opening& opening) const {
  const Cluster& cluster = *state.cluster;
  double sum = 0;
  for (const Draw& draw : cluster.draws(kind, cluster.first_slot(opening.device) + opening.slot))
    sum += draw.amount / cluster.resources()[draw.resource].capacity * free_[draw.resource];
  return sum;
}

std::optional<PlacingDecider::Choice> Graphene::choose(const WorldState& state) {
  forget_ended(state, orders_);
  find_free(state);
  // Work left in each job, over the mean.
  std::vector<double> left;
  double mean = 0;
  for (const JobId id : state.in_system) {
    const auto work = static_cast<double>(state.job(id).work_left.count());
    left.push_back(work);
    mean += work / static_cast<double>(state.in_system.size());
  }
  std::optional<Choice> best;
  double most = -std::numeric_limits<double>::infinity();
  for (size_t j = 0; j < state.in_system.size(); ++j) {
    const JobStatus& job = state.job(state.in_system[j]);
    if (job.ready.empty()) continue;
    const std::vector<double>& rank = order(*state.cluster, job.job);
    const double behind = options_.remaining * left[j] / std::max(1.0, mean);
    for (const OpId op : job.ready) {
      // No device is quicker than the quickest, so that the score cannot be more than this.
      if (options_.packing == 0 && rank[op.index] - behind + 1 <= most) continue;
      for (const Opening& opening : bearable(state, job, op, options_.patience)) {
        // Between its devices, an op prefers the quick ones.
        const double speed = static_cast<double>(job.job->least_run_time(op).count()) /
                             static_cast<double>(std::max<int64_t>(1, opening.time.count()));
        const double score = rank[op.index] - behind + speed +
                             options_.packing * packing(state, job.job->kind(op), opening);
        if (score <= most) continue;
        most = score;
        best = Choice{&job, op, opening};
      }
    }
  }
  return best;
}

}  // namespace tutti
