#include "tutti/policy/heuristic/min_cut.h"

#ifdef TUTTI_HAVE_METIS

#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/policy/places/placement.h"
#include "tutti/policy/places/subsets.h"
#include "tutti/policy/ranks.h"

namespace tutti {
namespace {

// METIS counts in 32 bits; the sums of all weights must stay well below.
constexpr double kMostWeight = 5e8;
constexpr idx_t kMostForBisection = 8;  // parts; the manual's advice
constexpr int kMostExchangeRounds = 20;
constexpr size_t kMostDevicesToExchange = 64;
// METIS finds bands hard to keep even when there are many; finer ones gained nothing.
constexpr idx_t kBands[] = {1, 2, 4, 8};

// The graph as METIS wants it: undirected, ops of one colocation group as one, edges merged.
struct CutGraph {
  std::vector<idx_t> of_op;
  std::vector<idx_t> begin;
  std::vector<idx_t> neighbour;
  std::vector<idx_t> edge_weight;
  idx_t bands = 1;
  std::vector<idx_t> weight;  // by op x band
  idx_t size() const { return static_cast<idx_t>(begin.size()) - 1; }
};

void number_ops(const Problem& problem, CutGraph& cut) {
  std::vector<idx_t> of_group(static_cast<size_t>(problem.colocation_group_count()), -1);
  idx_t next = 0;
  for (const OpId op : problem.graph.ops()) {
    const int group = problem.colocation_group(op);
    if (group < 0) {
      cut.of_op.push_back(next++);
      continue;
    }
    idx_t& mine = of_group[static_cast<size_t>(group)];
    if (mine < 0) mine = next++;
    cut.of_op.push_back(mine);
  }
  cut.begin.assign(static_cast<size_t>(next) + 1, 0);
}

// Bands of equal work, by the earliest time at which ops could run.
std::vector<idx_t> bands_of(const Problem& problem, idx_t count) {
  const std::vector<double> begin = downward_ranks(problem, EdgeWeight::all_pairs);
  const auto order = problem.graph.topological_order();
  std::vector<OpId> ops(order.begin(), order.end());
  std::stable_sort(ops.begin(), ops.end(),
                   [&](OpId a, OpId b) { return begin[a.index] < begin[b.index]; });
  double all = 0;
  for (const OpId op : ops) all += problem.costs.mean_run_time_ns(op);
  std::vector<idx_t> band(ops.size(), 0);
  double done = 0;
  for (const OpId op : ops) {
    if (all > 0) band[op.index] = std::min(count - 1, static_cast<idx_t>(done / all * count));
    done += problem.costs.mean_run_time_ns(op);
  }
  return band;
}

void weigh_ops(const Problem& problem, idx_t bands, CutGraph& cut) {
  const std::vector<idx_t> band = bands_of(problem, bands);
  cut.bands = bands;
  cut.weight.assign(static_cast<size_t>(cut.size()) * static_cast<size_t>(bands), 0);
  double all = 1;
  for (const OpId op : problem.graph.ops()) all += problem.costs.mean_run_time_ns(op);
  for (const OpId op : problem.graph.ops()) {
    const auto at = static_cast<size_t>(cut.of_op[op.index]) * static_cast<size_t>(bands) +
                    static_cast<size_t>(band[op.index]);
    cut.weight[at] +=
        1 + static_cast<idx_t>(problem.costs.mean_run_time_ns(op) / all * kMostWeight);
  }
}

void join_ops(const Problem& problem, CutGraph& cut) {
  struct Joint {
    idx_t from;
    idx_t to;
    double time;
  };
  const Graph& graph = problem.graph;
  std::vector<Joint> joints;
  double all = 1;
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      const idx_t from = cut.of_op[producer.index];
      const idx_t to = cut.of_op[op.index];
      if (from == to) continue;
      const double time = problem.costs.mean_transfer_time_ns(edge);
      all += time;
      joints.push_back({from, to, time});
      joints.push_back({to, from, time});
    }
  }
  std::stable_sort(joints.begin(), joints.end(), [](const Joint& a, const Joint& b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  size_t next = 0;
  for (idx_t from = 0; from < cut.size(); ++from) {
    while (next < joints.size() && joints[next].from == from) {
      const idx_t to = joints[next].to;
      double time = 0;
      for (; next < joints.size() && joints[next].from == from && joints[next].to == to; ++next) {
        time += joints[next].time;
      }
      cut.neighbour.push_back(to);
      cut.edge_weight.push_back(1 + static_cast<idx_t>(time / all * kMostWeight));
    }
    cut.begin[static_cast<size_t>(from) + 1] = static_cast<idx_t>(cut.neighbour.size());
  }
}

// METIS draws from the C library's one random generator: two calls at once would disturb each
// other's numbers.
Mutex metis_mutex;  // NOLINT: guards a global that is not ours

// `share` is by part x band.
Result<std::vector<idx_t>> cut_into(CutGraph& cut, std::vector<real_t> share, uint64_t seed) {
  idx_t ops = cut.size();
  idx_t constraints = cut.bands;
  idx_t parts = static_cast<idx_t>(share.size()) / constraints;
  std::vector<idx_t> part_of(static_cast<size_t>(ops), 0);
  if (parts == 1) return part_of;
  if (ops <= parts) {  // METIS expects more to divide
    std::iota(part_of.begin(), part_of.end(), 0);
    return part_of;
  }
  idx_t cost = 0;
  std::vector<idx_t> options(METIS_NOPTIONS);
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & 0x7fffffff);
  const MutexLock lock(metis_mutex);
  auto* const partition =
      parts <= kMostForBisection ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  const int status = partition(&ops, &constraints, cut.begin.data(), cut.neighbour.data(),
                               cut.weight.data(), nullptr, cut.edge_weight.data(), &parts,
                               share.data(), nullptr, options.data(), &cost, part_of.data());
  if (status != METIS_OK) return failed(fmt::format("METIS gave up with status {}", status));
  return part_of;
}

std::vector<real_t> shares_of(const std::vector<double>& speed, idx_t bands) {
  std::vector<double> share;
  const double all = std::accumulate(speed.begin(), speed.end(), 0.0);
  for (const double s : speed) share.push_back(all > 0 ? std::max(s / all, 1e-3) : 1.0);
  const double sum = std::accumulate(share.begin(), share.end(), 0.0);
  std::vector<real_t> by_band;
  for (const double s : share) {
    by_band.insert(by_band.end(), static_cast<size_t>(bands), static_cast<real_t>(s / sum));
  }
  return by_band;
}

// Which device gets which part: at first its own, then exchanged between equally fast ones as long
// as that brings parts closer to those they exchange most with.
class Neighbours {
 public:
  Neighbours(const Problem& problem, const CutGraph& cut, const std::vector<idx_t>& part_of)
      : problem_(problem), size_(static_cast<size_t>(problem.machine.size())) {
    traffic_.assign(size_ * size_, 0);
    for (const OpId op : problem.graph.ops()) {
      for (const EdgeId edge : problem.graph.edges(op)) {
        const OpId producer = problem.graph.edge_from(edge);
        if (!producer.valid()) continue;
        const auto from =
            static_cast<size_t>(part_of[static_cast<size_t>(cut.of_op[producer.index])]);
        const auto to = static_cast<size_t>(part_of[static_cast<size_t>(cut.of_op[op.index])]);
        const auto bytes = static_cast<double>(problem.graph.bytes(problem.graph.edge_value(edge)));
        traffic_[from * size_ + to] += bytes;
        traffic_[to * size_ + from] += bytes;
      }
    }
    device_of_.resize(size_);
    std::iota(device_of_.begin(), device_of_.end(), size_t{0});
  }

  std::vector<size_t> device_of_part(const std::vector<double>& speed) {
    for (int round = 0; round < kMostExchangeRounds && exchange_round(speed); ++round) {
    }
    return device_of_;
  }

 private:
  double ns_per_byte(size_t from, size_t to) const {
    const Machine& machine = problem_.machine;
    const Route* route = machine.route(machine.memory_of(DeviceId{static_cast<int32_t>(from)}),
                                       machine.memory_of(DeviceId{static_cast<int32_t>(to)}));
    double sum = 0;
    for (const Hop& hop : route->hops) sum += hop.ns_per_byte;
    return sum;
  }

  double cost_of(size_t part) const {
    double cost = 0;
    for (size_t other = 0; other < size_; ++other) {
      if (other == part) continue;
      cost += traffic_[part * size_ + other] * ns_per_byte(device_of_[part], device_of_[other]);
    }
    return cost;
  }

  bool exchange_round(const std::vector<double>& speed) {
    bool better = false;
    for (size_t a = 0; a < size_; ++a) {
      for (size_t b = a + 1; b < size_; ++b) {
        if (speed[device_of_[a]] != speed[device_of_[b]]) continue;
        const double before = cost_of(a) + cost_of(b);
        std::swap(device_of_[a], device_of_[b]);
        if (cost_of(a) + cost_of(b) < before * (1 - 1e-9)) {
          better = true;
        } else {
          std::swap(device_of_[a], device_of_[b]);
        }
      }
    }
    return better;
  }

  const Problem& problem_;
  size_t size_;
  std::vector<double> traffic_;  // by part x part
  std::vector<size_t> device_of_;
};

Result<Plan> plan_cut(const Problem& problem, CutGraph& cut, const std::vector<double>& speed,
                      uint64_t seed) {
  const Result<std::vector<idx_t>> part_of = cut_into(cut, shares_of(speed, cut.bands), seed);
  if (!part_of) return part_of.error();
  std::vector<size_t> device_of(speed.size());
  std::iota(device_of.begin(), device_of.end(), size_t{0});
  if (speed.size() <= kMostDevicesToExchange) {
    device_of = Neighbours(problem, cut, *part_of).device_of_part(speed);
  }
  Placement placement(problem);
  for (const OpId op : problem.graph.ops()) {
    const auto part = static_cast<size_t>((*part_of)[static_cast<size_t>(cut.of_op[op.index])]);
    placement.put_near(op, DeviceId{static_cast<int32_t>(device_of[part])});
  }
  return placement.to_plan();
}

}  // namespace

Result<Plan> MinCut::plan(const Problem& problem, const Budget& /*budget*/, uint64_t seed) {
  const std::vector<double> speed = device_speeds(problem);
  CutGraph cut;
  number_ops(problem, cut);
  join_ops(problem, cut);
  std::optional<Result<Plan>> best;
  for (const idx_t bands : kBands) {
    weigh_ops(problem, bands, cut);
    Result<Plan> plan = plan_cut(problem, cut, speed, seed);
    if (plan) plan->provenance.note = fmt::format("work even in each of {} bands of time", bands);
    const bool better =
        !best || (plan && (!*best || plan->planned_makespan < (*best)->planned_makespan));
    if (better) best = std::move(plan);
  }
  return std::move(*best);
}

}  // namespace tutti

#endif  // TUTTI_HAVE_METIS
