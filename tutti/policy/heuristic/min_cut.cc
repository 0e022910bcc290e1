// Minimum cut: ops and devices are halved together, again and again, so that the transfers between
// the halves are least and each half holds its devices' share of the work, by speed; devices far
// from each other are parted first. METIS does the cutting (Karypis, Kumar 1998);
// docs/adr/0007-metis.md says why.
//
// A cut knows nothing of time: it may give ops that could run at once to one device. So the graph
// is also cut with the work even in each of several bands of time (multi-constraint partitioning,
// Karypis, Kumar 1998b), and the plan of the least estimated makespan is taken; provenance.note
// says how many bands. Absent from the registry when tutti was built without METIS.

#include "tutti/policy/heuristic/min_cut.h"

#include "tutti/policy/heuristic/heuristics.h"

#ifdef TUTTI_HAVE_METIS

#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/policy/places/placement.h"
#include "tutti/policy/places/subsets.h"
#include "tutti/policy/schedule/ranks.h"

namespace tutti {

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

namespace {

// METIS counts in 32 bits; the sums of all weights must stay well below.
constexpr double kMostWeight = 5e8;
constexpr double kLeastShare = 1e-3;  // of the work, for devices that can do next to none
// How many bands of time are tried. Large graphs gain by many, but each try takes a second.
constexpr idx_t kBands[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
constexpr idx_t kBandsOfLarge[] = {1, 4, 16};
constexpr int32_t kSmallGraph = 2000;

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

// Halves ops and devices together, until one device is left or no more ops than devices. METIS
// could make many parts by itself, but prints to standard output when one of them stays empty.
class Halving {
 public:
  Halving(const CutGraph& cut, const std::vector<double>& speed, const CutSettings& settings)
      : cut_(cut),
        speed_(speed),
        settings_(settings),
        local_(static_cast<size_t>(cut.size()), -1),
        device_of_(static_cast<size_t>(cut.size())) {}

  // By op of the cut graph. Devices that stand together in `devices` are told apart last, so they
  // get the parts that exchange most.
  Result<std::vector<DeviceId>> divide(std::span<const DeviceId> devices) {
    std::vector<idx_t> all(static_cast<size_t>(cut_.size()));
    std::iota(all.begin(), all.end(), 0);
    if (Result<void> done = divide(all, devices); !done) return done.error();
    return std::move(device_of_);
  }

 private:
  Result<void> divide(const std::vector<idx_t>& ops, std::span<const DeviceId> devices) {
    if (devices.size() == 1 || ops.size() <= devices.size()) {
      for (size_t i = 0; i < ops.size(); ++i) {
        device_of_[static_cast<size_t>(ops[i])] = devices[i % devices.size()];
      }
      return {};
    }
    const size_t middle = (devices.size() + 1) / 2;
    const auto first = devices.first(middle);
    const auto second = devices.subspan(middle);
    const Result<std::vector<idx_t>> side = bisect(ops, share_of(first, second));
    if (!side) return side.error();
    std::vector<idx_t> parts[2];
    for (size_t i = 0; i < ops.size(); ++i) {
      parts[static_cast<size_t>((*side)[i])].push_back(ops[i]);
    }
    if (Result<void> done = divide(parts[0], first); !done) return done;
    return divide(parts[1], second);
  }

  double share_of(std::span<const DeviceId> first, std::span<const DeviceId> second) const {
    double sums[2] = {0, 0};
    for (const DeviceId device : first) sums[0] += speed_[device.index];
    for (const DeviceId device : second) sums[1] += speed_[device.index];
    return std::clamp(sums[0] / std::max(sums[0] + sums[1], 1e-12), kLeastShare, 1 - kLeastShare);
  }

  // The side of each op, 0 or 1.
  Result<std::vector<idx_t>> bisect(const std::vector<idx_t>& ops, double share) {
    CutGraph part = part_of(ops);
    auto count = static_cast<idx_t>(ops.size());
    idx_t bands = cut_.bands;
    idx_t sides = 2;
    idx_t cost = 0;
    std::vector<real_t> shares(static_cast<size_t>(bands), static_cast<real_t>(share));
    shares.insert(shares.end(), static_cast<size_t>(bands), static_cast<real_t>(1 - share));
    std::vector<idx_t> options(METIS_NOPTIONS);
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = static_cast<idx_t>(settings_.seed & 0x7fffffff);
    options[METIS_OPTION_UFACTOR] =  // in thousandths
        std::max<idx_t>(1, static_cast<idx_t>(std::lround(settings_.imbalance * 1000)));
    std::vector<idx_t> side(ops.size(), 0);
    const MutexLock lock(metis_mutex);
    const int status =
        METIS_PartGraphRecursive(&count, &bands, part.begin.data(), part.neighbour.data(),
                                 part.weight.data(), nullptr, part.edge_weight.data(), &sides,
                                 shares.data(), nullptr, options.data(), &cost, side.data());
    if (status != METIS_OK) return failed(fmt::format("METIS gave up with status {}", status));
    return side;
  }

  // These ops and the edges among them.
  CutGraph part_of(const std::vector<idx_t>& ops) {
    CutGraph part;
    for (size_t i = 0; i < ops.size(); ++i) {
      local_[static_cast<size_t>(ops[i])] = static_cast<idx_t>(i);
    }
    part.begin.push_back(0);
    const auto bands = static_cast<size_t>(cut_.bands);
    for (const idx_t op : ops) {
      const auto at = static_cast<size_t>(op);
      for (auto e = static_cast<size_t>(cut_.begin[at]);
           e < static_cast<size_t>(cut_.begin[at + 1]); ++e) {
        const idx_t other = local_[static_cast<size_t>(cut_.neighbour[e])];
        if (other < 0) continue;
        part.neighbour.push_back(other);
        part.edge_weight.push_back(cut_.edge_weight[e]);
      }
      part.begin.push_back(static_cast<idx_t>(part.neighbour.size()));
      const auto weight = cut_.weight.begin() + static_cast<int64_t>(at * bands);
      part.weight.insert(part.weight.end(), weight, weight + static_cast<int64_t>(bands));
    }
    for (const idx_t op : ops) local_[static_cast<size_t>(op)] = -1;
    return part;
  }

  const CutGraph& cut_;
  const std::vector<double>& speed_;
  const CutSettings settings_;
  std::vector<idx_t> local_;  // by op of the cut graph: its index in the part at hand, or -1
  std::vector<DeviceId> device_of_;
};

}  // namespace

struct MinCut::State {
  std::vector<double> speed;
  std::vector<DeviceId> devices;
  CutGraph cut;
};

bool MinCut::is_available() {
  return true;
}

MinCut::MinCut(const Problem& problem) : problem_(problem), state_(std::make_unique<State>()) {
  state_->speed = device_speeds(problem);
  state_->devices = devices_by_speed_and_closeness(problem, state_->speed);
  number_ops(problem, state_->cut);
  join_ops(problem, state_->cut);
}

MinCut::~MinCut() = default;

Result<Plan> MinCut::plan(const CutSettings& settings) {
  auto& [speed, devices, cut] = *state_;
  if (cut.bands != settings.bands || cut.weight.empty()) weigh_ops(problem_, settings.bands, cut);
  const Result<std::vector<DeviceId>> device_of = Halving(cut, speed, settings).divide(devices);
  if (!device_of) return device_of.error();
  Placement placement(problem_);
  for (const OpId op : problem_.graph.ops()) {
    placement.put_near(op, (*device_of)[static_cast<size_t>(cut.of_op[op.index])]);
  }
  return placement.to_plan();
}

Result<Plan> plan_min_cut(const Problem& problem, const Budget& budget, uint64_t seed) {
  MinCut cuts(problem);
  std::optional<Result<Plan>> best;
  const bool small = problem.graph.size() <= kSmallGraph;
  for (const idx_t bands : small ? std::span<const idx_t>(kBands) : kBandsOfLarge) {
    Result<Plan> plan = cuts.plan({.bands = bands, .seed = seed});
    if (plan) plan->provenance.note = fmt::format("work even in each of {} bands of time", bands);
    const bool better =
        !best || (plan && (!*best || plan->planned_makespan < (*best)->planned_makespan));
    if (better) best = std::move(plan);
    if (budget.stop.now()) break;  // METIS itself cannot be stopped
  }
  return std::move(*best);
}

}  // namespace tutti

#else

namespace tutti {

struct MinCut::State {};

bool MinCut::is_available() {
  return false;
}

MinCut::MinCut(const Problem& problem) : problem_(problem) {}

MinCut::~MinCut() = default;

Result<Plan> MinCut::plan(const CutSettings& /*settings*/) {
  return failed("tutti was built without METIS");
}

}  // namespace tutti

#endif  // TUTTI_HAVE_METIS
