#include "tutti/search/throughput/splits.h"

#include <algorithm>
#include <limits>

namespace tutti {
namespace {

constexpr double kNever_ns = std::numeric_limits<double>::infinity();
constexpr int32_t kMostCuts = 600;
constexpr int64_t kMostUses = 4096;

// Devices that are alike: the same run times, payments and memory.
struct Alike {
  std::vector<int32_t> devices{};
};

std::vector<Alike> alike_devices(const LoadModel& model) {
  const Problem& problem = model.problem();
  std::vector<Alike> classes;
  for (int32_t device = 0; device < model.devices(); ++device) {
    const auto limit = [&](int32_t other) {
      return problem.memory_limit(problem.machine.memory_of(DeviceId{other}));
    };
    const auto same = [&](const Alike& known) {
      const int32_t other = known.devices[0];
      const Device& a = problem.machine.device(DeviceId{other});
      const Device& b = problem.machine.device(DeviceId{device});
      if (a.kind != b.kind || a.slots != b.slots || limit(other) != limit(device)) return false;
      if (problem.costs.device_class(DeviceId{other}) !=
          problem.costs.device_class(DeviceId{device})) {
        return false;
      }
      for (int32_t unit = 0; unit < model.units(); ++unit) {  // pins
        if (model.work_ns(unit, other) != model.work_ns(unit, device)) return false;
      }
      return true;
    };
    const auto known = std::find_if(classes.begin(), classes.end(), same);
    if (known != classes.end()) {
      known->devices.push_back(device);
    } else {
      classes.push_back({{device}});
    }
  }
  return classes;
}

// The load of every interval [begin, end) of the order on one device, for all places to cut.
class IntervalLoads {
 public:
  IntervalLoads(const LoadModel& model, std::span<const int32_t> order)
      : model_(model), order_(order), place_(order.size()) {
    for (size_t i = 0; i < order.size(); ++i) {
      place_[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
    }
    for (const UnitFlow& flow : model.flows()) {
      int32_t first = std::numeric_limits<int32_t>::max();
      int32_t last = -1;
      for (const int32_t reader : flow.to) {
        first = std::min(first, place_[static_cast<size_t>(reader)]);
        last = std::max(last, place_[static_cast<size_t>(reader)]);
      }
      first_.push_back(first);
      last_.push_back(last);
    }
    by_first_.resize(order.size());
    for (size_t i = 0; i < first_.size(); ++i) {
      by_first_[static_cast<size_t>(first_[i])].push_back(static_cast<int32_t>(i));
    }
    taken_.assign(first_.size(), false);
  }

  // Of all intervals that end there: by their begin, as far as `wanted` asks for it.
  void ending_at(int32_t end, int32_t device, const std::vector<bool>& cut,
                 std::vector<double>& loads) {
    std::vector<int32_t> touched;
    double work = 0;
    double out = 0;
    double in = 0;
    double bytes = 0;
    const double limit = DeviceLimit(device);
    loads.assign(static_cast<size_t>(end), kNever_ns);
    for (int32_t begin = end; begin-- > 0;) {
      const int32_t unit = order_[static_cast<size_t>(begin)];
      work += model_.work_ns(unit, device);
      bytes += model_.weight_bytes(unit);
      if (work == kNever_ns || bytes > limit) break;
      // What only earlier units read besides those inside is now read inside alone.
      for (const int32_t number : by_first_[static_cast<size_t>(begin)]) {
        const UnitFlow& flow = model_.flows()[static_cast<size_t>(number)];
        if (flow.from < 0) continue;
        const int32_t maker = place_[static_cast<size_t>(flow.from)];
        if (maker > begin && maker < end && last_[static_cast<size_t>(number)] < end) {
          out -= model_.out_ns(flow, device);
        }
      }
      for (const int32_t number : model_.flows_of(unit)) {
        const UnitFlow& flow = model_.flows()[static_cast<size_t>(number)];
        const auto at = static_cast<size_t>(number);
        if (flow.from == unit) {
          if (last_[at] >= end || first_[at] < begin) out += model_.out_ns(flow, device);
          if (taken_[at]) in -= model_.in_ns(flow, device);
          continue;
        }
        const int32_t maker = flow.from < 0 ? -1 : place_[static_cast<size_t>(flow.from)];
        const bool inside = maker > begin && maker < end;
        if (inside || taken_[at]) continue;
        taken_[at] = true;
        touched.push_back(number);
        in += model_.in_ns(flow, device);
      }
      if (!cut[static_cast<size_t>(begin)]) continue;
      loads[static_cast<size_t>(begin)] =
          model_.serial() ? work + out + in : std::max(work, std::max(out, in));
    }
    for (const int32_t number : touched) taken_[static_cast<size_t>(number)] = false;
  }

 private:
  double DeviceLimit(int32_t device) const {
    const Problem& problem = model_.problem();
    const int64_t limit = problem.memory_limit(problem.machine.memory_of(DeviceId{device}));
    return limit == kUnlimitedBytes ? kNever_ns : static_cast<double>(limit);
  }

  const LoadModel& model_;
  std::span<const int32_t> order_;
  std::vector<int32_t> place_;                  // by unit
  std::vector<int32_t> first_;                  // by flow: the place of its first reader
  std::vector<int32_t> last_;                   // and of its last
  std::vector<std::vector<int32_t>> by_first_;  // by place: the flows first read there
  std::vector<bool> taken_;                     // by flow: a reader is inside, the maker not
};

}  // namespace

std::vector<std::vector<int32_t>> orders_to_split(const LoadModel& model) {
  const Graph& graph = model.problem().graph;
  const auto order_of = [&](const std::vector<OpId>& ops) {
    std::vector<bool> seen(static_cast<size_t>(model.units()), false);
    std::vector<int32_t> order;
    for (const OpId op : ops) {
      const int32_t unit = model.unit_of(op);
      if (seen[static_cast<size_t>(unit)]) continue;
      seen[static_cast<size_t>(unit)] = true;
      order.push_back(unit);
    }
    return order;
  };
  const auto forward = graph.topological_order();
  std::vector<OpId> ops(forward.begin(), forward.end());
  std::vector<std::vector<int32_t>> orders = {order_of(ops)};
  std::reverse(ops.begin(), ops.end());
  orders.push_back(order_of(ops));
  // Depth first: an op as soon as all that it reads is there, the latest such op first.
  std::vector<int32_t> missing(static_cast<size_t>(graph.size()), 0);
  std::vector<OpId> ready;
  for (const OpId op : graph.ops()) {
    for (const ValueId value : graph.operands(op)) {
      if (graph.producer(value).valid()) ++missing[static_cast<size_t>(op.index)];
    }
  }
  for (auto it = ops.begin(); it != ops.end(); ++it) {
    if (missing[static_cast<size_t>(it->index)] == 0) ready.push_back(*it);
  }
  std::vector<OpId> deep;
  while (!ready.empty()) {
    const OpId op = ready.back();
    ready.pop_back();
    deep.push_back(op);
    for (const ValueId value : graph.outputs(op)) {
      const auto readers = graph.consumers(value);
      for (size_t i = readers.size(); i-- > 0;) {
        const OpId reader = graph.edge_to(readers[i]);
        if (--missing[static_cast<size_t>(reader.index)] == 0) ready.push_back(reader);
      }
    }
  }
  orders.push_back(order_of(deep));
  std::sort(orders.begin() + 1, orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return orders;
}

std::optional<std::vector<int32_t>> best_split(const LoadModel& model,
                                               std::span<const int32_t> order, const Stop& stop) {
  const auto units = static_cast<int32_t>(order.size());
  const std::vector<Alike> classes = alike_devices(model);
  // How many of each class are used, as one number.
  std::vector<int64_t> step;
  int64_t uses = 1;
  for (const Alike& alike : classes) {
    step.push_back(uses);
    uses *= static_cast<int64_t>(alike.devices.size()) + 1;
    if (uses > kMostUses) return std::nullopt;
  }
  std::vector<bool> cut(static_cast<size_t>(units) + 1, units <= kMostCuts);
  for (int32_t i = 0; i <= kMostCuts; ++i) {
    cut[static_cast<size_t>(static_cast<int64_t>(i) * units / kMostCuts)] = true;
  }
  struct Choice {
    int32_t begin = -1;
    int32_t device_class = -1;
  };
  const auto wide = static_cast<size_t>(uses);
  std::vector<std::vector<double>> best(static_cast<size_t>(units) + 1);
  std::vector<std::vector<Choice>> choice(best.size());
  best[0].assign(wide, kNever_ns);
  best[0][0] = 0;
  IntervalLoads intervals(model, order);
  std::vector<double> loads;
  for (int32_t end = 1; end <= units; ++end) {
    if (!cut[static_cast<size_t>(end)]) continue;
    if (stop.now()) return std::nullopt;
    auto& here = best[static_cast<size_t>(end)];
    auto& how = choice[static_cast<size_t>(end)];
    here.assign(wide, kNever_ns);
    how.assign(wide, {});
    for (size_t c = 0; c < classes.size(); ++c) {
      intervals.ending_at(end, classes[c].devices[0], cut, loads);
      const auto most = static_cast<int64_t>(classes[c].devices.size());
      for (int32_t begin = end; begin-- > 0;) {
        const double load = loads[static_cast<size_t>(begin)];
        if (load == kNever_ns) continue;
        const auto& before = best[static_cast<size_t>(begin)];
        for (int64_t use = 0; use < uses; ++use) {
          if (before[static_cast<size_t>(use)] == kNever_ns) continue;
          if (use / step[c] % (most + 1) == most) continue;
          const auto after = static_cast<size_t>(use + step[c]);
          const double largest = std::max(before[static_cast<size_t>(use)], load);
          if (largest >= here[after]) continue;
          here[after] = largest;
          how[after] = {begin, static_cast<int32_t>(c)};
        }
      }
    }
  }
  const auto& last = best[static_cast<size_t>(units)];
  const auto found = std::min_element(last.begin(), last.end());
  if (*found == kNever_ns) return std::nullopt;
  std::vector<int32_t> device_of(static_cast<size_t>(units), 0);
  auto use = static_cast<int64_t>(found - last.begin());
  for (int32_t end = units; end > 0;) {
    const Choice chosen = choice[static_cast<size_t>(end)][static_cast<size_t>(use)];
    const auto c = static_cast<size_t>(chosen.device_class);
    const int64_t used = use / step[c] % (static_cast<int64_t>(classes[c].devices.size()) + 1);
    for (int32_t i = chosen.begin; i < end; ++i) {
      device_of[static_cast<size_t>(order[static_cast<size_t>(i)])] =
          classes[c].devices[static_cast<size_t>(used - 1)];
    }
    use -= step[c];
    end = chosen.begin;
  }
  return device_of;
}

}  // namespace tutti
