#include "tutti/policy/coarse/quotient.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

// A link before the links of one pair of groups are added up.
struct Arrow {
  int32_t from;
  int32_t to;
  double weight;
};

// Arrows by ascending end, in two passes of counting; those of equal ends keep their order.
template <class End>
void sort_by(std::vector<Arrow>& arrows, int32_t groups, End end) {
  std::vector<int32_t> next(static_cast<size_t>(groups) + 1, 0);
  for (const Arrow& arrow : arrows) ++next[static_cast<size_t>(end(arrow)) + 1];
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<Arrow> sorted(arrows.size());
  for (const Arrow& arrow : arrows) {
    sorted[static_cast<size_t>(next[static_cast<size_t>(end(arrow))]++)] = arrow;
  }
  arrows.swap(sorted);
}

void fill_rows(const std::vector<Arrow>& arrows, int32_t groups, int32_t Arrow::*near,
               int32_t Arrow::*far, std::vector<int32_t>& begin,
               std::vector<Quotient::Link>& links) {
  begin.assign(static_cast<size_t>(groups) + 1, 0);
  links.reserve(arrows.size());
  for (const Arrow& arrow : arrows) {
    ++begin[static_cast<size_t>(arrow.*near) + 1];
    links.push_back({arrow.*far, arrow.weight});
  }
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
}

void add_links(std::vector<Arrow> arrows, Quotient& quotient) {
  const int32_t groups = quotient.size();
  sort_by(arrows, groups, [](const Arrow& arrow) { return arrow.to; });
  sort_by(arrows, groups, [](const Arrow& arrow) { return arrow.from; });
  size_t kept = 0;
  for (const Arrow& arrow : arrows) {
    if (kept > 0 && arrows[kept - 1].from == arrow.from && arrows[kept - 1].to == arrow.to) {
      arrows[kept - 1].weight += arrow.weight;
    } else {
      arrows[kept++] = arrow;
    }
  }
  arrows.resize(kept);
  fill_rows(arrows, groups, &Arrow::from, &Arrow::to, quotient.out_begin, quotient.out);
  sort_by(arrows, groups, [](const Arrow& arrow) { return arrow.to; });
  fill_rows(arrows, groups, &Arrow::to, &Arrow::from, quotient.in_begin, quotient.in);
}

// Numbers the groups of `arrows` so that all of them go up, first come first served.
std::vector<int32_t> topological_numbers(const std::vector<Arrow>& arrows, int32_t groups) {
  std::vector<int32_t> begin(static_cast<size_t>(groups) + 1, 0);
  std::vector<int32_t> missing(static_cast<size_t>(groups), 0);
  for (const Arrow& arrow : arrows) {
    ++begin[static_cast<size_t>(arrow.from) + 1];
    ++missing[static_cast<size_t>(arrow.to)];
  }
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<int32_t> reader(arrows.size());
  std::vector<int32_t> next(begin.begin(), begin.end() - 1);
  for (const Arrow& arrow : arrows) {
    reader[static_cast<size_t>(next[static_cast<size_t>(arrow.from)]++)] = arrow.to;
  }
  std::vector<int32_t> order;
  order.reserve(static_cast<size_t>(groups));
  for (int32_t group = 0; group < groups; ++group) {
    if (missing[static_cast<size_t>(group)] == 0) order.push_back(group);
  }
  std::vector<int32_t> number(static_cast<size_t>(groups));
  for (size_t i = 0; i < order.size(); ++i) {
    const auto group = static_cast<size_t>(order[i]);
    number[group] = static_cast<int32_t>(i);
    for (int32_t k = begin[group]; k < begin[group + 1]; ++k) {
      const int32_t to = reader[static_cast<size_t>(k)];
      if (--missing[static_cast<size_t>(to)] == 0) order.push_back(to);
    }
  }
  TUTTI_CHECK(order.size() == static_cast<size_t>(groups));  // no cycle
  return number;
}

}  // namespace

Quotient quotient_of(const Problem& problem, std::vector<int32_t>& of_op) {
  const Graph& graph = problem.graph;
  const auto ops = static_cast<size_t>(graph.size());
  of_op.resize(ops);
  Quotient quotient;
  quotient.work_ns.reserve(ops);
  quotient.family.reserve(ops);
  std::map<std::pair<std::vector<DeviceId>, int>, int32_t> families;
  // Most ops have the family of the op before, and finding it costs little then.
  std::pair<std::vector<DeviceId>, int> last;
  int32_t last_family = -1;
  for (const OpId op : graph.topological_order()) {
    of_op[static_cast<size_t>(op.index)] = quotient.size();
    quotient.work_ns.push_back(problem.costs.mean_run_time_ns(op));
    const auto devices = problem.devices_for(op);
    const int colocation = problem.colocation_group(op);
    if (last_family < 0 || last.second != colocation ||
        !std::equal(devices.begin(), devices.end(), last.first.begin(), last.first.end())) {
      last = {{devices.begin(), devices.end()}, colocation};
      last_family = families.try_emplace(last, static_cast<int32_t>(families.size())).first->second;
    }
    quotient.family.push_back(last_family);
  }
  // Where transfers have given times, bytes say nothing about them.
  const bool given = problem.costs.has_given_transfers();
  std::vector<Arrow> arrows;
  arrows.reserve(static_cast<size_t>(graph.edge_count()));
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      arrows.push_back({of_op[static_cast<size_t>(producer.index)],
                        of_op[static_cast<size_t>(op.index)],
                        given ? problem.costs.mean_transfer_time_ns(edge)
                              : static_cast<double>(graph.bytes(graph.edge_value(edge)))});
    }
  }
  add_links(std::move(arrows), quotient);
  return quotient;
}

Quotient joined(const Quotient& quotient, std::vector<int32_t>& leader) {
  const auto before = static_cast<size_t>(quotient.size());
  std::vector<int32_t> dense(before, -1);  // by leader
  int32_t groups = 0;
  for (int32_t& group : leader) {
    int32_t& number = dense[static_cast<size_t>(group)];
    if (number < 0) number = groups++;
    group = number;
  }
  std::vector<Arrow> arrows;
  arrows.reserve(quotient.out.size());
  for (int32_t from = 0; from < quotient.size(); ++from) {
    for (const Quotient::Link& link : quotient.readers(from)) {
      const Arrow arrow{leader[static_cast<size_t>(from)], leader[static_cast<size_t>(link.group)],
                        link.weight};
      if (arrow.from != arrow.to) arrows.push_back(arrow);
    }
  }
  const std::vector<int32_t> number = topological_numbers(arrows, groups);
  for (int32_t& group : leader) group = number[static_cast<size_t>(group)];
  for (Arrow& arrow : arrows) {
    arrow.from = number[static_cast<size_t>(arrow.from)];
    arrow.to = number[static_cast<size_t>(arrow.to)];
  }
  Quotient result;
  result.work_ns.assign(static_cast<size_t>(groups), 0);
  result.family.assign(static_cast<size_t>(groups), -1);
  for (size_t i = 0; i < before; ++i) {
    const auto group = static_cast<size_t>(leader[i]);
    result.work_ns[group] += quotient.work_ns[i];
    result.family[group] = quotient.family[i];
  }
  add_links(std::move(arrows), result);
  return result;
}

std::vector<int32_t> levels(const Quotient& quotient) {
  std::vector<int32_t> level(static_cast<size_t>(quotient.size()), 0);
  for (int32_t group = 0; group < quotient.size(); ++group) {
    for (const Quotient::Link& link : quotient.producers(group)) {
      level[static_cast<size_t>(group)] =
          std::max(level[static_cast<size_t>(group)], level[static_cast<size_t>(link.group)] + 1);
    }
  }
  return level;
}

}  // namespace tutti
