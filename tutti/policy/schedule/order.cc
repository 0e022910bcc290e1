#include "tutti/policy/schedule/order.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "tutti/graph/analysis.h"
#include "tutti/graph/groups.h"
#include "tutti/policy/schedule/ranks.h"

namespace tutti {
namespace {

// What a rule sorts by: ascending first, then ascending second, then by id.
using Key = std::pair<double, double>;

Priorities by_key(const std::vector<Key>& key) {
  std::vector<int32_t> order(key.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return key[static_cast<size_t>(a)] < key[static_cast<size_t>(b)];
  });
  Priorities priority(key.size());
  for (size_t i = 0; i < order.size(); ++i) {
    priority[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  return priority;
}

// Most rules fall back on the plan-aware b-level, the longest path first.
template <class First>
Priorities first_by(const Problem& problem, PlacementView placement, First first) {
  const std::vector<Duration> level = placed_b_levels(problem, placement);
  std::vector<Key> key;
  key.reserve(level.size());
  for (const OpId op : problem.graph.ops()) {
    key.emplace_back(first(op), -static_cast<double>(level[op.index].count()));
  }
  return by_key(key);
}

// The transfers that an op's end lets start, one for each value and memory.
Duration unlocked_transfers(const Problem& problem, PlacementView placement, OpId op) {
  const Machine& machine = problem.machine;
  const MemoryId here = machine.memory_of(placement[op.index]);
  Duration sum{0};
  std::vector<MemoryId> sent;
  for (const ValueId value : problem.graph.outputs(op)) {
    sent.clear();
    for (const EdgeId edge : problem.graph.consumers(value)) {
      const DeviceId reader = placement[problem.graph.edge_to(edge).index];
      const MemoryId there = machine.memory_of(reader);
      if (there == here || std::find(sent.begin(), sent.end(), there) != sent.end()) continue;
      sent.push_back(there);
      sum += problem.costs.transfer_time(edge, placement[op.index], reader);
    }
  }
  return sum;
}

Priorities plan_b_level(const Problem& problem, PlacementView placement) {
  return first_by(problem, placement, [](OpId) { return 0.0; });
}

Priorities b_level(const Problem& problem, PlacementView /*placement*/) {
  const std::vector<double> rank = upward_ranks(problem, EdgeWeight::distinct_pairs);
  std::vector<Key> key;
  key.reserve(rank.size());
  for (const double r : rank) key.emplace_back(-r, 0.0);
  return by_key(key);
}

// Groups in the order in which the topological order first meets them.
Priorities by_group(const Problem& problem, PlacementView placement) {
  const Groups groups = groups_of(problem.graph);
  std::vector<double> turn(groups.members.size(), -1);
  double next = 0;
  for (const OpId op : problem.graph.topological_order()) {
    double& mine = turn[static_cast<size_t>(groups.of_op[op.index])];
    if (mine < 0) mine = next++;
  }
  return first_by(problem, placement,
                  [&](OpId op) { return turn[static_cast<size_t>(groups.of_op[op.index])]; });
}

// The groups with the longest path behind them first, each kept together.
Priorities by_group_level(const Problem& problem, PlacementView placement) {
  const Groups groups = groups_of(problem.graph);
  const std::vector<Duration> level = placed_b_levels(problem, placement);
  std::vector<Duration> longest(groups.members.size(), Duration{0});
  for (const OpId op : problem.graph.ops()) {
    Duration& group = longest[static_cast<size_t>(groups.of_op[op.index])];
    group = std::max(group, level[op.index]);
  }
  return first_by(problem, placement, [&](OpId op) {
    return -static_cast<double>(longest[static_cast<size_t>(groups.of_op[op.index])].count());
  });
}

Priorities by_level(const Problem& problem, PlacementView placement) {
  const Levels depth = levels(problem.graph);
  return first_by(problem, placement,
                  [&](OpId op) { return static_cast<double>(depth.of_op[op.index]); });
}

// The earliest possible start, with unlimited devices, as placed.
Priorities by_earliest(const Problem& problem, PlacementView placement) {
  const Graph& graph = problem.graph;
  std::vector<Duration> start(static_cast<size_t>(graph.size()), Duration{0});
  for (const OpId op : graph.topological_order()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      const DeviceId from = placement[producer.index];
      start[op.index] = std::max(start[op.index],
                                 start[producer.index] + problem.costs.run_time(producer, from) +
                                     problem.costs.transfer_time(edge, from, placement[op.index]));
    }
  }
  return first_by(problem, placement,
                  [&](OpId op) { return static_cast<double>(start[op.index].count()); });
}

Priorities longest_first(const Problem& problem, PlacementView placement) {
  return first_by(problem, placement, [&](OpId op) {
    return -static_cast<double>(problem.costs.run_time(op, placement[op.index]).count());
  });
}

Priorities shortest_first(const Problem& problem, PlacementView placement) {
  return first_by(problem, placement, [&](OpId op) {
    return static_cast<double>(problem.costs.run_time(op, placement[op.index]).count());
  });
}

Priorities most_transfers(const Problem& problem, PlacementView placement) {
  return first_by(problem, placement, [&](OpId op) {
    return -static_cast<double>(unlocked_transfers(problem, placement, op).count());
  });
}

Priorities senders_first(const Problem& problem, PlacementView placement) {
  return first_by(problem, placement, [&](OpId op) {
    return unlocked_transfers(problem, placement, op) > Duration{0} ? 0.0 : 1.0;
  });
}

// The work that waits behind an op, an op with several producers counting in equal parts for each.
Priorities most_work_behind(const Problem& problem, PlacementView placement) {
  const Graph& graph = problem.graph;
  std::vector<double> work(static_cast<size_t>(graph.size()), 0);
  const auto order = graph.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    work[it->index] +=
        static_cast<double>(problem.costs.run_time(*it, placement[it->index]).count());
    const double producers = graph.made_operands(*it);
    for (const EdgeId edge : graph.edges(*it)) {
      const OpId producer = graph.edge_from(edge);
      if (producer.valid()) work[producer.index] += work[it->index] / producers;
    }
  }
  return first_by(problem, placement, [&](OpId op) { return -work[op.index]; });
}

bool has_readers(const Graph& graph, OpId op) {
  for (const ValueId value : graph.outputs(op)) {
    if (!graph.consumers(value).empty()) return true;
  }
  return false;
}

Priorities depth_first(const Problem& problem, PlacementView /*placement*/) {
  Priorities priority(static_cast<size_t>(problem.graph.size()));
  int64_t turn = 0;
  for (const OpId op : depth_first_order(problem.graph)) priority[op.index] = turn++;
  return priority;
}

// Part after part, the one with the longest path first.
Priorities by_component(const Problem& problem, PlacementView placement) {
  const Components parts = components(problem.graph);
  const std::vector<Duration> level = placed_b_levels(problem, placement);
  std::vector<Duration> longest(static_cast<size_t>(parts.count), Duration{0});
  for (const OpId op : problem.graph.ops()) {
    Duration& part = longest[static_cast<size_t>(parts.of_op[op.index])];
    part = std::max(part, level[op.index]);
  }
  std::vector<int32_t> order(longest.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return longest[static_cast<size_t>(a)] > longest[static_cast<size_t>(b)];
  });
  std::vector<double> turn(longest.size());
  for (size_t i = 0; i < order.size(); ++i) {
    turn[static_cast<size_t>(order[i])] = static_cast<double>(i);
  }
  return first_by(problem, placement,
                  [&](OpId op) { return turn[static_cast<size_t>(parts.of_op[op.index])]; });
}

Priorities as_in_file(const Problem& problem, PlacementView /*placement*/) {
  Priorities priority(static_cast<size_t>(problem.graph.size()));
  int64_t turn = 0;
  for (const OpId op : problem.graph.topological_order()) priority[op.index] = turn++;
  return priority;
}

constexpr std::array<OrderRule, 14> kRules = {{
    {"plan_b_level", "longest path to the end as placed", plan_b_level},
    {"b_level", "longest path to the end in mean times, wherever ops are", b_level},
    {"group", "group after group as the graph has them", by_group},
    {"group_level", "group after group, the one with the longest path first", by_group_level},
    {"level", "level after level", by_level},
    {"earliest", "the earliest possible start first", by_earliest},
    {"longest", "the longest run time first", longest_first},
    {"shortest", "the shortest run time first", shortest_first},
    {"most_transfers", "the op that lets most transfer time start goes first", most_transfers},
    {"senders", "ops whose results travel before those whose do not", senders_first},
    {"work_behind", "most work waiting behind it first", most_work_behind},
    {"depth_first", "finish what is started", depth_first},
    {"component", "one independent part after the other", by_component},
    {"file", "as the graph lists them", as_in_file},
}};

}  // namespace

std::span<const OrderRule> order_rules() {
  return kRules;
}

std::vector<Duration> placed_b_levels(const Problem& problem, PlacementView placement) {
  const Graph& graph = problem.graph;
  std::vector<Duration> level(static_cast<size_t>(graph.size()), Duration{0});
  const auto order = graph.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const OpId op = *it;
    const DeviceId here = placement[op.index];
    level[op.index] += problem.costs.run_time(op, here);
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      const Duration way =
          level[op.index] + problem.costs.transfer_time(edge, placement[producer.index], here);
      level[producer.index] = std::max(level[producer.index], way);
    }
  }
  return level;
}

std::vector<OpId> depth_first_order(const Graph& graph) {
  std::vector<OpId> order;
  order.reserve(static_cast<size_t>(graph.size()));
  std::vector<bool> seen(static_cast<size_t>(graph.size()), false);
  struct Visit {
    OpId op;
    size_t next_operand;
  };
  std::vector<Visit> path;
  for (const OpId root : graph.topological_order()) {
    if (has_readers(graph, root)) continue;
    seen[static_cast<size_t>(root.index)] = true;
    path.push_back({root, 0});
    while (!path.empty()) {
      const OpId op = path.back().op;
      const auto operands = graph.operands(op);
      if (path.back().next_operand == operands.size()) {
        order.push_back(op);
        path.pop_back();
        continue;
      }
      const OpId producer = graph.producer(operands[path.back().next_operand++]);
      if (!producer.valid() || seen[static_cast<size_t>(producer.index)]) continue;
      seen[static_cast<size_t>(producer.index)] = true;
      path.push_back({producer, 0});
    }
  }
  return order;
}

Plan reordered(const Problem& problem, const Plan& plan, const OrderRule& rule) {
  Plan result;
  result.placement = plan.placement;
  result.priority = rule.priorities(problem, plan.placement);
  result.provenance = plan.provenance;
  result.weights = plan.weights;
  return result;
}

}  // namespace tutti
