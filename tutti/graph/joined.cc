#include "tutti/graph/joined.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "tutti/graph/builder.h"
#include "tutti/graph/groups.h"

namespace tutti {
namespace {

class Joiner {
 public:
  Joiner(std::string name, size_t parts) : builder_(std::move(name)), alone_(parts == 1) {}

  void add(const Graph& graph) {
    const auto part = static_cast<int32_t>(values_.size());
    std::vector<ValueId>& values = values_.emplace_back();
    values.resize(static_cast<size_t>(graph.value_count()));
    first_op_.push_back(builder_.op_count());
    add_inputs(graph, part, values);
    const int32_t first_edge = builder_.edge_count();
    for (const OpId op : graph.ops()) add_op(graph, op, part, values);
    if (builder_.too_large()) return;  // build says so
    for (const OpId op : graph.ops()) {
      for (const EdgeId edge : graph.edges(op)) {
        const EdgeId mine{first_edge + edge.index};
        builder_.connect(mine, values[static_cast<size_t>(graph.edge_value(edge).index)]);
        give_transfers(graph, edge, mine);
      }
    }
  }

  bool too_large() const { return builder_.too_large(); }

  Result<Joined> finish() && {
    Result<Graph> built = std::move(builder_).build();
    if (!built) return built.error();
    return Joined{std::move(*built), std::move(first_op_), std::move(values_),
                  std::move(op_places_), std::move(value_places_)};
  }

 private:
  std::string named(int32_t part, std::string_view own) const {
    return alone_ ? std::string(own) : fmt::format("{}.{}", part, own);
  }

  static ValueSpec spec_of(const Graph& graph, ValueId value, std::string name) {
    const auto shape = graph.shape(value);
    return {.name = std::move(name),
            .bytes = graph.bytes(value),
            .shape = {shape.begin(), shape.end()},
            .dtype = graph.dtype(value)};
  }

  void add_inputs(const Graph& graph, int32_t part, std::vector<ValueId>& values) {
    for (const ValueId value : graph.values()) {
      if (graph.producer(value).valid()) continue;
      const Residence& residence = graph.residence(value);
      const bool everywhere = residence.where == Residence::Where::everywhere;
      const auto known = everywhere ? inputs_.find({&graph, value.index}) : inputs_.end();
      if (known != inputs_.end()) {
        values[static_cast<size_t>(value.index)] = known->second;
        continue;
      }
      const ValueId mine =
          builder_.add_input({.value = spec_of(graph, value, named(part, graph.value_name(value))),
                              .residence = residence,
                              .weight = graph.is_weight(value)});
      values[static_cast<size_t>(value.index)] = mine;
      value_places_.push_back({part, value.index});
      if (everywhere) inputs_.emplace(std::pair(&graph, value.index), mine);
    }
  }

  void add_op(const Graph& graph, OpId op, int32_t part, std::vector<ValueId>& values) {
    const std::string name = named(part, graph.op_name(op));
    std::vector<ValueSpec> outputs;
    for (const ValueId value : graph.outputs(op)) outputs.push_back(spec_of(graph, value, {}));
    std::vector<std::pair<std::string, std::string>> attributes;
    for (const auto& [key, text] : graph.attributes(op)) {
      attributes.emplace_back(key,
                              key == kColocateAttribute ? named(part, text) : std::string(text));
    }
    const std::vector<ValueId> operands(graph.operands(op).size());  // connected later
    const std::vector<GivenTime> run_times = run_times_of(graph, op);
    const OpId mine = builder_.add_op({.name = name,
                                       .kind = graph.op_kind_name(op),
                                       .operands = operands,
                                       .outputs = outputs,
                                       .flops = graph.flops(op),
                                       .transient_bytes = graph.transient_bytes(op),
                                       .run_times = run_times,
                                       .attributes = attributes,
                                       .command = graph.command(op)});
    if (builder_.too_large()) return;
    op_places_.push_back({part, op.index});
    int32_t next = graph.outputs(op).front().index;
    for (const ValueId value : builder_.outputs(mine)) {
      values[static_cast<size_t>(next)] = value;
      value_places_.push_back({part, next++});
    }
  }

  static std::vector<GivenTime> run_times_of(const Graph& graph, OpId op) {
    std::vector<GivenTime> times;
    if (!graph.has_given_run_times()) return times;
    const auto add = [&](int kind, const std::string& name) {
      const std::vector<Duration>* column = graph.run_time_column(kind);
      if (column == nullptr) return;
      const Duration time = (*column)[static_cast<size_t>(op.index)];
      if (time >= Duration(0)) times.push_back({name, time});
    };
    add(-1, "");
    for (size_t k = 0; k < graph.device_kinds().size(); ++k)
      add(static_cast<int>(k), graph.device_kinds()[k]);
    return times;
  }

  void give_transfers(const Graph& graph, EdgeId edge, EdgeId mine) {
    if (!graph.has_given_transfers()) return;
    const auto kinds = static_cast<int>(graph.device_kinds().size());
    const auto name = [&](int kind) {
      return kind < 0 ? std::string() : graph.device_kinds()[static_cast<size_t>(kind)];
    };
    for (int from = -1; from < kinds; ++from) {
      for (int to = -1; to < kinds; ++to) {
        const std::vector<Duration>* column = graph.transfer_column(from, to);
        if (column == nullptr) continue;
        const Duration time = (*column)[static_cast<size_t>(edge.index)];
        if (time >= Duration(0)) builder_.give_transfer(mine, {name(from), name(to), time});
      }
    }
  }

  GraphBuilder builder_;
  bool alone_;  // there is one part, which keeps its names
  std::vector<int32_t> first_op_;
  std::vector<std::vector<ValueId>> values_;
  std::vector<Joined::Place> op_places_;
  std::vector<Joined::Place> value_places_;
  std::map<std::pair<const Graph*, int32_t>, ValueId> inputs_;  // that are everywhere
};

}  // namespace

Result<Joined> join_graphs(std::string name, std::span<const Graph* const> parts) {
  Joiner joiner(std::move(name), parts.size());
  for (const Graph* part : parts) {
    joiner.add(*part);
    if (joiner.too_large()) break;
  }
  return std::move(joiner).finish();
}

}  // namespace tutti
