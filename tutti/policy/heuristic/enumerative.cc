// The enumerative optimiser, Doppler's expert baseline (Yao et al. 2025; its code was not released,
// this follows the paper's description): group after group in topological order, the ops of a group
// (the blocks of one tensor operation) are divided evenly over the devices so that the operands
// that must be brought over take the least time; then each reduction, an op that reads its own
// group's results, goes where its operands cost least.
//
// Divisions are enumerated while there are at most 10^6 of them and all groups together have not
// taken 10^7 steps. Beyond,
// the cheapest is found as a transportation problem, which cannot see that two ops on one device
// share an operand, and is then repaired by swaps with the true cost; beyond 32 devices ops are
// placed one by one. provenance.note says how often each was used.
//
// Departures: transfer time takes the place of bytes, and "evenly" means by run time, so that a
// slow device gets fewer ops. In a graph without groups the ops of one kind and level stand for
// one.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "tutti/graph/analysis.h"
#include "tutti/graph/groups.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/places/fetches.h"
#include "tutti/policy/places/placement.h"
#include "tutti/policy/places/transport.h"

namespace tutti {
namespace {

constexpr double kMostDivisions = 1e6;
constexpr int64_t kMostSteps = 10'000'000;  // over all groups
constexpr size_t kMostPlaces = 32;          // of a transportation problem; beyond: one by one
constexpr size_t kSwapReach = 128;          // an op is exchanged with this many behind it
constexpr int kMostSwapRounds = 8;

// How many ways there are to divide that many different ops over places that hold `capacity` each.
double division_count(size_t ops, const std::vector<int>& capacity) {
  if (ops > 40) return 2 * kMostDivisions;
  std::vector<double> ways(ops + 1, 0);
  ways[0] = 1;
  for (const int room : capacity) {
    std::vector<double> next(ops + 1, 0);
    for (size_t before = 0; before <= ops; ++before) {
      double choose = 1;  // which of the remaining ops come here
      const size_t left = ops - before;
      for (size_t here = 0; here <= std::min(left, static_cast<size_t>(room)); ++here) {
        next[before + here] += ways[before] * choose;
        choose *= static_cast<double>(left - here) / static_cast<double>(here + 1);
      }
    }
    ways.swap(next);
  }
  return ways[ops];
}

// The groups, each by ascending op, in the order in which the topological order meets them.
std::vector<std::vector<OpId>> groups_in_order(const Graph& graph, const Groups& named) {
  std::vector<int32_t> of_op = named.of_op;
  if (!named.named) {
    const Levels depth = levels(graph);
    std::map<std::pair<int32_t, int32_t>, int32_t> index;
    for (const OpId op : graph.ops()) {
      const std::pair key{depth.of_op[op.index], graph.op_kind(op).index};
      of_op[op.index] = index.emplace(key, static_cast<int32_t>(index.size())).first->second;
    }
  }
  std::vector<int32_t> turn(of_op.size(), -1);
  std::vector<std::vector<OpId>> groups;
  for (const OpId op : graph.topological_order()) {
    int32_t& mine = turn[static_cast<size_t>(of_op[op.index])];
    if (mine < 0) {
      mine = static_cast<int32_t>(groups.size());
      groups.emplace_back();
    }
    groups[static_cast<size_t>(mine)].push_back(op);
  }
  return groups;
}

class Optimiser {
 public:
  Optimiser(const Problem& problem, const Stop& stop)
      : problem_(problem),
        stop_(stop),
        placement_(problem),
        fetches_(problem),
        load_(static_cast<size_t>(problem.machine.size()), Duration{0}),
        in_group_(static_cast<size_t>(problem.graph.size()), -1) {}

  Result<Plan> run() {
    const Groups named = groups_of(problem_.graph);
    int32_t turn = 0;
    for (const std::vector<OpId>& group : groups_in_order(problem_.graph, named)) {
      for (const OpId op : group) in_group_[op.index] = turn;
      place_group(group, turn++);
      if (stop_.now()) return out_of_time();
    }
    Result<Plan> plan = placement_.to_plan();
    if (plan) {
      plan->provenance.note =
          fmt::format("{}: {} enumerated, {} as transportation problems with swaps, {} one by one",
                      named.named ? "groups by attribute" : "groups by kind and level", enumerated_,
                      transported_, one_by_one_);
    }
    return plan;
  }

 private:
  bool reads_group(OpId op, int32_t group) const {
    for (const ValueId value : problem_.graph.operands(op)) {
      const OpId producer = problem_.graph.producer(value);
      if (producer.valid() && in_group_[producer.index] == group) return true;
    }
    return false;
  }

  void place_group(const std::vector<OpId>& group, int32_t turn) {
    shards_.clear();
    std::vector<OpId> others;  // reductions, and ops that constraints tie to fewer devices
    std::span<const DeviceId> widest;
    for (const OpId op : group) {
      const auto open = placement_.choices(op);
      if (open.size() > widest.size()) widest = open;
    }
    devices_.assign(widest.begin(), widest.end());
    for (const OpId op : group) {
      const auto open = placement_.choices(op);
      const bool free = problem_.colocation_group(op) < 0 &&
                        std::equal(open.begin(), open.end(), widest.begin(), widest.end());
      (free && !reads_group(op, turn) ? shards_ : others).push_back(op);
    }
    if (!shards_.empty()) divide_shards();
    for (const OpId op : others) place_alone(op);
  }

  void place_alone(OpId op) {
    DeviceId best{};
    std::pair<Duration, Duration> best_cost;
    for (const DeviceId device : placement_.choices(op)) {
      const std::pair cost{fetches_.time(op, device),
                           load_[device.index] + problem_.costs.run_time(op, device)};
      if (best.valid() && cost >= best_cost) continue;
      best = device;
      best_cost = cost;
    }
    fetches_.place(op, best);
    settle(op, best);
  }

  void settle(OpId op, DeviceId device) {
    placement_.put(op, device);
    load_[device.index] +=
        problem_.costs.run_time(op, device) / problem_.machine.device(device).slots;
  }

  void divide_shards() {
    // Of equal divisions the one found first is taken: let it begin with those that have least.
    std::stable_sort(devices_.begin(), devices_.end(),
                     [&](DeviceId a, DeviceId b) { return load_[a.index] < load_[b.index]; });
    capacity_ = even_capacities();
    chosen_.assign(shards_.size(), 0);
    if (shards_.size() == 1) {
      ++enumerated_;
      place_alone_within_capacity();
      return;
    }
    if (division_count(shards_.size(), capacity_) <= kMostDivisions && steps_ < kMostSteps) {
      ++enumerated_;
      enumerate();
    } else if (devices_.size() <= kMostPlaces) {
      ++transported_;
      solve_as_transport();
    } else {
      ++one_by_one_;
      divide_one_by_one();
    }
    for (size_t i = 0; i < shards_.size(); ++i) settle(shards_[i], device_of(i));
  }

  DeviceId device_of(size_t shard) const { return devices_[static_cast<size_t>(chosen_[shard])]; }

  // One op has the whole machine to choose from, but a slow device is not an even share of it.
  void place_alone_within_capacity() {
    size_t kept = 0;
    for (size_t d = 0; d < devices_.size(); ++d) {
      if (capacity_[d] > 0) devices_[kept++] = devices_[d];
    }
    devices_.resize(kept);
    const OpId op = shards_.front();
    DeviceId best = devices_.front();
    for (const DeviceId device : devices_) {
      if (fetches_.time(op, device) < fetches_.time(op, best)) best = device;
    }
    fetches_.place(op, best);
    settle(op, best);
  }

  // The most ops each device may get so that all are done at the earliest.
  std::vector<int> even_capacities() const {
    std::vector<double> time;  // of a mean shard on one slot
    for (const DeviceId device : devices_) {
      double sum = 1;
      for (const OpId op : shards_) {
        sum += static_cast<double>(problem_.costs.run_time(op, device).count());
      }
      time.push_back(sum / static_cast<double>(shards_.size()) /
                     problem_.machine.device(device).slots);
    }
    using Next = std::pair<double, size_t>;  // when the device would end one more
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    for (size_t d = 0; d < time.size(); ++d) next.push({time[d], d});
    std::vector<int> capacity(devices_.size(), 0);
    double end = 0;
    for (size_t i = 0; i < shards_.size() || next.top().first <= end; ++i) {
      const size_t d = next.top().second;
      end = std::max(end, next.top().first * (1 + 1e-9));
      next.pop();
      ++capacity[d];
      next.push({time[d] * (capacity[d] + 1), d});
    }
    return capacity;
  }

  // All divisions, depth first, less those that cannot be better than the best so far.
  void enumerate() {
    std::vector<int> left = capacity_;
    std::vector<int> trial(shards_.size(), 0);
    Duration best = kNever;
    const auto visit = [&](const auto& self, size_t shard, Duration cost) -> void {
      if (shard == shards_.size()) {
        best = cost;
        chosen_ = trial;
        return;
      }
      for (size_t d = 0; d < devices_.size() && cost < best; ++d) {
        if (left[d] == 0) continue;
        if (++steps_ % 256 == 0 && stop_.now()) best = Duration{0};  // no division is better
        const Duration sum = cost + fetches_.time(shards_[shard], devices_[d]);
        if (sum >= best) continue;
        --left[d];
        trial[shard] = static_cast<int>(d);
        fetches_.place(shards_[shard], devices_[d]);
        self(self, shard + 1, sum);
        fetches_.take_back(shards_[shard], devices_[d]);
        ++left[d];
      }
    };
    visit(visit, 0, Duration{0});
    for (size_t i = 0; i < shards_.size(); ++i) fetches_.place(shards_[i], device_of(i));
  }

  void solve_as_transport() {
    std::vector<int64_t> cost;
    cost.reserve(shards_.size() * devices_.size());
    for (const OpId op : shards_) {
      for (const DeviceId device : devices_) cost.push_back(fetches_.time(op, device).count());
    }
    chosen_ = transport(cost, capacity_);
    for (size_t i = 0; i < shards_.size(); ++i) fetches_.place(shards_[i], device_of(i));
    for (int round = 0; round < kMostSwapRounds && swap_round(); ++round) {
    }
  }

  // Each op where it costs least among the devices that may have more.
  void divide_one_by_one() {
    std::vector<int> left = capacity_;
    for (size_t i = 0; i < shards_.size(); ++i) {
      Duration best = kNever;
      for (size_t d = 0; d < devices_.size(); ++d) {
        if (left[d] == 0) continue;
        const Duration cost = fetches_.time(shards_[i], devices_[d]);
        if (cost >= best) continue;
        best = cost;
        chosen_[i] = static_cast<int>(d);
      }
      --left[static_cast<size_t>(chosen_[i])];
      fetches_.place(shards_[i], device_of(i));
    }
  }

  bool swap_round() {
    bool better = false;
    for (size_t i = 0; i < shards_.size() && !stop_.now(); ++i) {
      const size_t end = std::min(shards_.size(), i + 1 + kSwapReach);
      for (size_t j = i + 1; j < end; ++j) {
        if (chosen_[i] != chosen_[j] && swap_if_cheaper(i, j)) better = true;
      }
    }
    return better;
  }

  bool swap_if_cheaper(size_t i, size_t j) {
    const Duration before = lift(i) + lift(j);
    std::swap(chosen_[i], chosen_[j]);
    const Duration after = put_down(i) + put_down(j);
    if (after < before) return true;
    lift(j);
    lift(i);
    std::swap(chosen_[i], chosen_[j]);
    put_down(i);
    put_down(j);
    return false;
  }

  // What the op's operands cost where it is, given where all others are.
  Duration lift(size_t shard) {
    fetches_.take_back(shards_[shard], device_of(shard));
    return fetches_.time(shards_[shard], device_of(shard));
  }
  Duration put_down(size_t shard) {
    const Duration cost = fetches_.time(shards_[shard], device_of(shard));
    fetches_.place(shards_[shard], device_of(shard));
    return cost;
  }

  const Problem& problem_;
  const Stop& stop_;
  Placement placement_;
  Fetches fetches_;
  std::vector<Duration> load_;     // by device
  std::vector<int32_t> in_group_;  // by op: the turn of its group, -1 before it
  int64_t steps_ = 0;
  int enumerated_ = 0;
  int transported_ = 0;
  int one_by_one_ = 0;
  // Of the group at hand.
  std::vector<OpId> shards_;
  std::vector<DeviceId> devices_;
  std::vector<int> capacity_;  // by index into devices_
  std::vector<int> chosen_;    // by index into shards_: index into devices_
};

}  // namespace

Result<Plan> plan_enumerative(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  return Optimiser(problem, budget.stop).run();
}

}  // namespace tutti
