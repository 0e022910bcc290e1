#include "tutti/policy/coarse/coarse_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "tutti/graph/builder.h"
#include "tutti/graph/groups.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

std::string group_name(int32_t group) {
  return fmt::format("group{}", group);
}

// Sums of sizes that a file may state, however large.
int64_t sum_of(int64_t a, int64_t b) {
  return std::min(a + b, kMostBytes);
}

// Makes the graph of groups.
class GraphOfGroups {
 public:
  GraphOfGroups(const Problem& problem, const OpGroups& groups,
                const std::vector<std::vector<OpId>>& members)
      : problem_(problem),
        graph_(problem.graph),
        groups_(groups),
        members_(members),
        builder_(graph_.name()),
        operands_(members.size()) {}

  Result<Graph> make() && {
    add_inputs();
    for (int32_t group = 0; group < groups_.count; ++group) add(group);
    return std::move(builder_).build();
  }

 private:
  // What a group reads, and an edge by which it did so in the graph itself.
  struct Operand {
    ValueId value;
    EdgeId edge;
  };
  struct Reader {
    int32_t group;
    EdgeId edge;  // the first
  };

  int32_t group_of(OpId op) const { return groups_.of_op[static_cast<size_t>(op.index)]; }

  // The other groups that read the value, by ascending number.
  std::vector<Reader> readers_of(ValueId value, int32_t maker) const {
    std::vector<Reader> readers;
    for (const EdgeId edge : graph_.consumers(value)) {
      const int32_t group = group_of(graph_.edge_to(edge));
      if (group != maker) readers.push_back({group, edge});
    }
    std::sort(readers.begin(), readers.end(), [](const Reader& a, const Reader& b) {
      return std::pair(a.group, a.edge) < std::pair(b.group, b.edge);
    });
    readers.erase(std::unique(readers.begin(), readers.end(),
                              [](const Reader& a, const Reader& b) { return a.group == b.group; }),
                  readers.end());
    return readers;
  }

  static std::vector<int32_t> groups_in(const std::vector<Reader>& readers) {
    std::vector<int32_t> groups;
    groups.reserve(readers.size());
    for (const Reader& reader : readers) groups.push_back(reader.group);
    return groups;
  }

  void add_inputs() {
    using Key = std::tuple<bool, Residence::Where, std::string, std::vector<int32_t>>;
    std::map<Key, InputSpec> inputs;
    std::map<Key, std::vector<Reader>> readers_by_key;
    for (const ValueId value : graph_.values()) {
      if (graph_.producer(value).valid()) continue;
      const std::vector<Reader> readers = readers_of(value, -1);
      const Residence& residence = graph_.residence(value);
      const bool weight = graph_.is_weight(value);
      const Key key{weight, residence.where, residence.device, groups_in(readers)};
      InputSpec& input = inputs[key];
      input.residence = residence;
      input.weight = weight;
      input.value.bytes = sum_of(input.value.bytes, graph_.bytes(value));
      readers_by_key.try_emplace(key, readers);
    }
    for (const auto& [key, input] : inputs) {
      hand_out(builder_.add_input(input), readers_by_key.at(key));
    }
  }

  void hand_out(ValueId value, const std::vector<Reader>& readers) {
    for (const Reader& reader : readers) {
      operands_[static_cast<size_t>(reader.group)].push_back({value, reader.edge});
    }
  }

  void add(int32_t group) {
    const auto& members = members_[static_cast<size_t>(group)];
    std::vector<ValueSpec> outputs;
    std::vector<std::vector<Reader>> readers_of_output;
    std::map<std::vector<int32_t>, size_t> known;
    const bool keep_apart = problem_.costs.has_given_transfers();
    double flops = 0;
    int64_t transient = 0;
    int64_t inside = 0;
    OpId heaviest = members.front();
    for (const OpId op : members) {
      flops += graph_.flops(op);
      transient = std::max(transient, graph_.transient_bytes(op));
      if (problem_.costs.mean_run_time_ns(op) > problem_.costs.mean_run_time_ns(heaviest)) {
        heaviest = op;
      }
      for (const ValueId value : graph_.outputs(op)) {
        std::vector<Reader> readers = readers_of(value, group);
        if (readers.empty() && !graph_.consumers(value).empty()) {
          inside = sum_of(inside, graph_.bytes(value));
          continue;
        }
        size_t at = outputs.size();
        if (!keep_apart) at = known.try_emplace(groups_in(readers), at).first->second;
        if (at == outputs.size()) {
          outputs.emplace_back();
          readers_of_output.push_back(std::move(readers));
        }
        outputs[at].bytes = sum_of(outputs[at].bytes, graph_.bytes(value));
      }
    }
    const OpId op = add_op(group, heaviest, outputs, flops, sum_of(transient, inside));
    size_t next = 0;
    for (const ValueId value : builder_.outputs(op)) hand_out(value, readers_of_output[next++]);
  }

  // Kind and group are those of the heaviest member.
  OpId add_op(int32_t group, OpId heaviest, const std::vector<ValueSpec>& outputs, double flops,
              int64_t transient_bytes) {
    const std::string name = group_name(group);
    std::vector<ValueId> operands;
    for (const Operand& operand : operands_[static_cast<size_t>(group)]) {
      operands.push_back(operand.value);
    }
    std::vector<std::pair<std::string, std::string>> attributes;
    for (const auto& [key, value] : graph_.attributes(heaviest)) {
      if (key == kGroupAttribute) attributes.emplace_back(key, value);
    }
    const int32_t first_edge = builder_.edge_count();
    const OpId op = builder_.add_op({.name = name,
                                     .kind = graph_.op_kind_name(heaviest),
                                     .operands = operands,
                                     .outputs = outputs,
                                     .flops = flops,
                                     .transient_bytes = transient_bytes,
                                     .attributes = attributes});
    if (problem_.costs.has_given_transfers()) give_transfers(group, first_edge);
    return op;
  }

  void give_transfers(int32_t group, int32_t first_edge) {
    const auto kinds = static_cast<int>(graph_.device_kinds().size());
    const auto name = [&](int kind) {
      return kind < 0 ? std::string() : graph_.device_kinds()[static_cast<size_t>(kind)];
    };
    for (int from = -1; from < kinds; ++from) {
      for (int to = -1; to < kinds; ++to) {
        const auto* column = graph_.transfer_column(from, to);
        if (column == nullptr) continue;
        int32_t edge = first_edge;
        for (const Operand& operand : operands_[static_cast<size_t>(group)]) {
          const Duration time = (*column)[operand.edge.index];
          if (time.count() >= 0) {
            builder_.give_transfer(EdgeId{edge},
                                   {.from_kind = name(from), .to_kind = name(to), .time = time});
          }
          ++edge;
        }
      }
    }
  }

  const Problem& problem_;
  const Graph& graph_;
  const OpGroups& groups_;
  const std::vector<std::vector<OpId>>& members_;
  GraphBuilder builder_;
  std::vector<std::vector<Operand>> operands_;  // by group
};

// What the problem's constraints come to for groups, spelt as Problem::make reads them.
Constraints constraints_of(const Problem& problem, const OpGroups& groups,
                           const std::vector<std::vector<OpId>>& members, const Costs& costs) {
  Constraints constraints;
  constraints.memory = problem.has_memory_limits();
  constraints.cold = problem.cold();
  for (int32_t i = 0; i < problem.machine.memory_count(); ++i) {
    constraints.memory_limits.push_back(
        {problem.machine.memory(MemoryId{i}).name, problem.memory_limit(MemoryId{i})});
  }
  for (int32_t group = 0; group < groups.count; ++group) {
    const auto allowed = problem.devices_for(members[static_cast<size_t>(group)].front());
    size_t able = 0;
    for (const DeviceId device : problem.machine.devices()) {
      able += costs.can_run(OpId{group}, device) ? 1 : 0;
    }
    if (allowed.size() == able) continue;
    Constraints::Pin pin{.op = group_name(group), .devices = {}};
    for (const DeviceId device : allowed) {
      pin.devices.push_back(problem.machine.device(device).name);
    }
    constraints.pins.push_back(std::move(pin));
  }
  for (int group = 0; group < problem.colocation_group_count(); ++group) {
    std::vector<int32_t> together;
    for (const OpId op : problem.members(group)) {
      together.push_back(groups.of_op[static_cast<size_t>(op.index)]);
    }
    std::sort(together.begin(), together.end());
    together.erase(std::unique(together.begin(), together.end()), together.end());
    if (together.size() < 2) continue;
    constraints.colocations.emplace_back();
    for (const int32_t part : together) {
      constraints.colocations.back().push_back(group_name(part));
    }
  }
  return constraints;
}

}  // namespace

Result<Problem> coarse_problem(const Problem& problem, const OpGroups& groups) {
  std::vector<std::vector<OpId>> members(static_cast<size_t>(groups.count));
  for (const OpId op : problem.graph.topological_order()) {
    members[static_cast<size_t>(groups.of_op[static_cast<size_t>(op.index)])].push_back(op);
  }
  Result<Graph> graph = GraphOfGroups(problem, groups, members).make();
  if (!graph) return graph.error();
  const Result<Problem> free = problem.gathered(std::move(*graph), groups.of_op);
  if (!free) return free.error();
  Result<Problem> coarse =
      free->with_constraints(constraints_of(problem, groups, members, free->costs));
  if (coarse && problem.weights_are_streamed()) return coarse->with_streamed_weights();
  return coarse;
}

}  // namespace tutti
