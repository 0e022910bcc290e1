// Random small problems within what the exact methods model, and their optima by brute force: no
// bounds, no dominance, and no code of the exact methods. Every placement; for each, every choice
// that a run could make, or every order on each device. For tests and bench/exact_truth.

#ifndef TUTTI_SEARCH_EXACT_BRUTE_FORCE_TESTING_H_
#define TUTTI_SEARCH_EXACT_BRUTE_FORCE_TESTING_H_

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/graph/builder.h"
#include "tutti/plan/problem.h"

namespace tutti::brute_force {

inline std::string name_of(const char* what, int64_t number) {
  return what + std::to_string(number);
}

inline bool one_in(Rng& rng, uint64_t odds) {
  return rng.below(odds) == 0;
}

// Unequal devices d0, d1, ... of kinds a and b. One byte takes one or two nanoseconds, transfers do
// not meet, latencies may be zero, some devices share the host's memory.
inline Machine random_machine(Rng& rng, int devices) {
  MachineSpec spec;
  spec.name = "small";
  const bool shares = one_in(rng, 4);
  for (int i = 0; i < devices; ++i) {
    MachineSpec::DeviceSpec item;
    item.device.name = name_of("d", i);
    item.device.kind = one_in(rng, 2) ? "a" : "b";
    item.device.slots = one_in(rng, 24) ? 2 : 1;
    item.uses_host_memory = shares && i < 2;
    spec.devices.push_back(item);
  }
  const auto connect = [&](const std::string& from, const std::string& to) {
    MachineSpec::LinkSpec link;
    link.name = from + "-" + to;
    link.ends[0] = from;
    link.ends[1] = to;
    link.latency = Duration(rng.below(3));
    link.bytes_per_s = one_in(rng, 2) ? 1e9 : 5e8;
    link.sharing = Sharing::unlimited;
    spec.links.push_back(link);
  };
  for (int i = 0; i < devices; ++i) {
    if (!spec.devices[static_cast<size_t>(i)].uses_host_memory) connect("host", name_of("d", i));
    for (int j = 0; j < i; ++j) {
      if (shares && i < 2) continue;  // one memory
      connect(name_of("d", i), name_of("d", j));
    }
  }
  return Machine::build(std::move(spec)).value();
}

// A quarter of the ops take no time. Edges have bytes, given times, or both; a value may be read by
// edges of either sort. Some ops run on one kind of device only; `kinds` are those of the machine.
inline Graph random_graph(Rng& rng, int32_t ops, const std::vector<std::string>& kinds) {
  GraphBuilder builder("small");
  std::vector<ValueId> values;
  for (uint64_t i = rng.below(3); i > 0; --i) {
    InputSpec input{.value = {.bytes = static_cast<int64_t>(rng.below(6))}};
    if (one_in(rng, 2)) input.residence = {.where = Residence::Where::host};
    if (one_in(rng, 4)) input.residence = {.where = Residence::Where::device, .device = "d0"};
    values.push_back(builder.add_input(input));
  }
  const bool has_given = one_in(rng, 2);
  for (int32_t i = 0; i < ops; ++i) {
    std::vector<ValueId> operands;
    for (const ValueId value : values) {
      if (one_in(rng, 3) && operands.size() < 3) operands.push_back(value);
    }
    if (!operands.empty() && one_in(rng, 12)) operands.push_back(operands[0]);  // read twice
    std::vector<GivenTime> times;
    for (const std::string& kind : kinds) {
      if (kinds.size() > 1 && !times.empty() && one_in(rng, 8)) continue;
      const uint64_t time = one_in(rng, 4) ? 0 : 1 + rng.below(20);
      times.push_back({kind, Duration(time)});
    }
    std::vector<ValueSpec> outputs(one_in(rng, 5) ? 2 : 1);
    for (ValueSpec& output : outputs) output.bytes = static_cast<int64_t>(rng.below(15));
    const int32_t first_edge = builder.edge_count();
    const std::string name = name_of("op", i);
    const OpId op = builder.add_op(
        {.name = name, .kind = "k", .operands = operands, .outputs = outputs, .run_times = times});
    for (int32_t edge = first_edge; edge < builder.edge_count(); ++edge) {
      if (!has_given || !one_in(rng, 2)) continue;
      GivenTransfer given{.from_kind = "", .to_kind = "", .time = Duration(rng.below(12))};
      if (one_in(rng, 3)) given.from_kind = given.to_kind = kinds[rng.below(kinds.size())];
      builder.give_transfer(EdgeId{edge}, given);
    }
    for (const ValueId value : builder.outputs(op)) values.push_back(value);
  }
  return std::move(builder).build().value();
}

inline Problem random_problem(uint64_t seed) {
  Rng rng = Rng(1969).split(seed);
  const auto ops = static_cast<int32_t>(3 + rng.below(5));
  Machine machine = random_machine(rng, static_cast<int>(2 + rng.below(2)));
  std::vector<std::string> kinds;
  for (const DeviceId device : machine.devices()) {
    const std::string& kind = machine.device(device).kind;
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  Graph graph = random_graph(rng, ops, kinds);
  Constraints constraints;
  // The last op has times for the first kind in any case, as all have.
  if (one_in(rng, 8)) constraints.colocations = {{"op0", name_of("op", ops - 1)}};
  return Problem::make(std::move(graph), std::move(machine), {}, constraints).value();
}

inline bool has_one_slot_each(const Problem& problem) {
  for (const DeviceId device : problem.machine.devices()) {
    if (problem.machine.device(device).slots > 1) return false;
  }
  return true;
}

using Placement = std::vector<DeviceId>;

inline void for_each_placement(const Problem& problem,
                               const std::function<void(const Placement&)>& each) {
  const auto ops = static_cast<size_t>(problem.graph.size());
  std::vector<size_t> choice(ops, 0);
  Placement placement(ops);
  for (;;) {
    for (const OpId op : problem.graph.ops()) {
      placement[op.index] = problem.devices_for(op)[choice[op.index]];
    }
    bool allowed = true;
    for (int group = 0; group < problem.colocation_group_count(); ++group) {
      for (const OpId op : problem.members(group)) {
        allowed = allowed && placement[op.index] == placement[problem.members(group)[0].index];
      }
    }
    if (allowed) each(placement);
    size_t i = 0;
    while (i < ops && ++choice[i] == problem.devices_for(OpId{static_cast<int32_t>(i)}).size()) {
      choice[i++] = 0;
    }
    if (i == ops) return;
  }
}

// From the end of its op, or the beginning for graph inputs, until the value is in that memory: one
// transfer for all readers there, as long as the longest time that is given for one of them, or as
// the route takes if none is given.
inline Duration way(const Problem& problem, const Placement& placement, ValueId value,
                    MemoryId memory) {
  const OpId producer = problem.graph.producer(value);
  const MemoryId home =
      producer.valid() ? problem.machine.memory_of(placement[producer.index]) : problem.home(value);
  std::optional<Duration> given;
  for (const EdgeId edge : problem.graph.consumers(value)) {
    const DeviceId reader = placement[problem.graph.edge_to(edge).index];
    if (!producer.valid() || problem.machine.memory_of(reader) != memory) continue;
    const auto own = problem.costs.given_transfer(edge, placement[producer.index], reader);
    if (own && (!given || *own > *given)) given = own;
  }
  return given ? *given : problem.costs.transfer_time(value, home, memory);
}

// One work-conserving run. Whenever several ops wait for a free slot the script says which of them
// is taken, 0 where it has ended; `choices` is how many there were each time.
inline Duration scripted_run(const Problem& problem, const Placement& placement,
                             const std::vector<size_t>& script, std::vector<size_t>& choices) {
  const Graph& graph = problem.graph;
  struct Arrival {
    ValueId value;
    MemoryId memory;
    Duration time;
  };
  enum class Status { waiting, running, done };
  std::vector<Arrival> arrivals;
  std::vector<std::pair<ValueId, MemoryId>> there;
  std::vector<Status> status(static_cast<size_t>(graph.size()), Status::waiting);
  std::vector<Duration> end(static_cast<size_t>(graph.size()));
  std::vector<int> busy(static_cast<size_t>(problem.machine.size()), 0);
  const auto memory_of = [&](OpId op) { return problem.machine.memory_of(placement[op.index]); };
  const auto send = [&](ValueId value, MemoryId home, Duration now) {
    for (const EdgeId edge : graph.consumers(value)) {
      const MemoryId memory = memory_of(graph.edge_to(edge));
      const bool sent = std::any_of(arrivals.begin(), arrivals.end(), [&](const Arrival& arrival) {
        return arrival.value == value && arrival.memory == memory;
      });
      if (memory == home || sent) continue;
      arrivals.push_back({value, memory, now + way(problem, placement, value, memory)});
    }
  };
  const auto is_ready = [&](OpId op) {
    for (const ValueId value : graph.operands(op)) {
      const OpId producer = graph.producer(value);
      const bool everywhere = !producer.valid() && !problem.home(value).valid();
      if (everywhere) continue;
      if (std::find(there.begin(), there.end(), std::pair(value, memory_of(op))) == there.end()) {
        return false;
      }
    }
    return true;
  };
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid() || !problem.home(value).valid()) continue;
    there.emplace_back(value, problem.home(value));
    send(value, problem.home(value), Duration{0});
  }
  choices.clear();
  Duration now{0};
  for (;;) {
    for (const DeviceId device : problem.machine.devices()) {
      while (busy[device.index] < problem.machine.device(device).slots) {
        std::vector<OpId> ready;
        for (const OpId op : graph.ops()) {
          if (placement[op.index] == device && status[op.index] == Status::waiting &&
              is_ready(op)) {
            ready.push_back(op);
          }
        }
        if (ready.empty()) break;
        const OpId op = ready[choices.size() < script.size() ? script[choices.size()] : size_t{0}];
        choices.push_back(ready.size());
        status[op.index] = Status::running;
        end[op.index] = now + problem.costs.run_time(op, device);
        ++busy[device.index];
      }
    }
    Duration next = kNever;
    for (const OpId op : graph.ops()) {
      if (status[op.index] == Status::running) next = std::min(next, end[op.index]);
    }
    for (const Arrival& arrival : arrivals) {
      const std::pair arrived(arrival.value, arrival.memory);
      if (std::find(there.begin(), there.end(), arrived) == there.end()) {
        next = std::min(next, arrival.time);
      }
    }
    if (next == kNever) return now;
    now = next;
    for (const OpId op : graph.ops()) {
      if (status[op.index] != Status::running || end[op.index] != now) continue;
      status[op.index] = Status::done;
      --busy[placement[op.index].index];
      for (const ValueId value : graph.outputs(op)) {
        there.emplace_back(value, memory_of(op));
        send(value, memory_of(op), now);
      }
    }
    for (const Arrival& arrival : arrivals) {
      const std::pair arrived(arrival.value, arrival.memory);
      if (arrival.time == now && std::find(there.begin(), there.end(), arrived) == there.end()) {
        there.push_back(arrived);
      }
    }
  }
}

// The best work-conserving plan: every placement, every script.
inline Duration best_work_conserving(const Problem& problem) {
  Duration best = kNever;
  for_each_placement(problem, [&](const Placement& placement) {
    std::vector<size_t> script;
    std::vector<size_t> choices;
    for (;;) {
      best = std::min(best, scripted_run(problem, placement, script, choices));
      script.resize(choices.size(), 0);
      while (!script.empty() && script.back() + 1 == choices[script.size() - 1]) script.pop_back();
      if (script.empty()) return;
      ++script.back();
    }
  });
  return best;
}

// When the last op ends if each device runs its ops in that order, each as soon as it can; kNever
// if the orders contradict the graph.
inline Duration ordered_run(const Problem& problem, const std::vector<std::vector<OpId>>& orders,
                            const std::vector<Duration>& ways) {
  const Graph& graph = problem.graph;
  std::vector<Duration> end(static_cast<size_t>(graph.size()), Duration{-1});
  std::vector<size_t> next(orders.size(), 0);
  std::vector<Duration> free(orders.size(), Duration{0});
  Duration last{0};
  int32_t left = graph.size();
  for (bool any = true; any;) {
    any = false;
    for (size_t device = 0; device < orders.size(); ++device) {
      if (next[device] == orders[device].size()) continue;
      const OpId op = orders[device][next[device]];
      Duration start = free[device];
      bool ready = true;
      for (const EdgeId edge : graph.edges(op)) {
        const OpId producer = graph.edge_from(edge);
        const Duration made = producer.valid() ? end[producer.index] : Duration{0};
        ready = ready && made.count() >= 0;
        start = std::max(start, made + ways[edge.index]);
      }
      if (!ready) continue;
      any = true;
      --left;
      ++next[device];
      end[op.index] = free[device] =
          start + problem.costs.run_time(op, DeviceId{static_cast<int32_t>(device)});
      last = std::max(last, end[op.index]);
    }
  }
  return left == 0 ? last : kNever;
}

// The best of all schedules: every placement, every order on each device. Requires one slot each.
inline Duration best_schedule(const Problem& problem) {
  const Graph& graph = problem.graph;
  Duration best = kNever;
  for_each_placement(problem, [&](const Placement& placement) {
    std::vector<std::vector<OpId>> orders(static_cast<size_t>(problem.machine.size()));
    for (const OpId op : graph.ops()) orders[placement[op.index].index].push_back(op);
    std::vector<Duration> ways(static_cast<size_t>(graph.edge_count()), Duration{0});
    for (const OpId op : graph.ops()) {
      const MemoryId memory = problem.machine.memory_of(placement[op.index]);
      for (const EdgeId edge : graph.edges(op)) {
        const OpId producer = graph.edge_from(edge);
        const MemoryId home = producer.valid()
                                  ? problem.machine.memory_of(placement[producer.index])
                                  : problem.home(graph.edge_value(edge));
        if (!home.valid() || home == memory) continue;
        ways[edge.index] = way(problem, placement, graph.edge_value(edge), memory);
      }
    }
    for (;;) {
      best = std::min(best, ordered_run(problem, orders, ways));
      size_t device = 0;
      while (device < orders.size() &&
             !std::next_permutation(orders[device].begin(), orders[device].end())) {
        ++device;
      }
      if (device == orders.size()) return;
    }
  });
  return best;
}

}  // namespace tutti::brute_force

#endif  // TUTTI_SEARCH_EXACT_BRUTE_FORCE_TESTING_H_
