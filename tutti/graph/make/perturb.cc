#include "tutti/graph/make/perturb.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/graph/builder.h"

namespace tutti {
namespace {

class Perturber {
 public:
  Perturber(const Graph& graph, const PerturbSpec& spec)
      : graph_(graph),
        spread_(spec.spread),
        bytes_times_(spec.bytes_times),
        rng_(spec.seed),
        builder_(graph.name()) {}

  Result<Graph> run() {
    new_value_.resize(static_cast<size_t>(graph_.value_count()));
    for (const ValueId value : graph_.values()) {
      if (graph_.producer(value).valid()) continue;
      new_value_[value.index] = builder_.add_input({.value = value_spec(value),
                                                    .residence = graph_.residence(value),
                                                    .weight = graph_.is_weight(value)});
    }
    std::vector<OpId> order;
    for (const OpId op : graph_.ops()) order.push_back(op);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng_.below(i)]);
    for (const OpId op : order) add(op);
    for (const auto& [edge, value] : later_) builder_.connect(edge, new_value_[value.index]);
    return std::move(builder_).build();
  }

 private:
  double factor() { return 1 + spread_ * (2 * rng_.uniform() - 1); }
  int64_t jittered(int64_t number) { return std::llround(static_cast<double>(number) * factor()); }
  Duration jittered(Duration time) { return Duration(jittered(int64_t{time.count()})); }

  ValueSpec value_spec(ValueId value) {
    return {
        .name = graph_.value_name(value),
        .bytes = std::llround(static_cast<double>(jittered(graph_.bytes(value))) * bytes_times_),
        .dtype = graph_.dtype(value)};
  }

  void add(OpId op) {
    std::vector<ValueSpec> outputs;
    for (const ValueId value : graph_.outputs(op)) outputs.push_back(value_spec(value));
    std::vector<GivenTime> times;
    for (int kind = -1; kind < static_cast<int>(graph_.device_kinds().size()); ++kind) {
      const std::vector<Duration>* column = graph_.run_time_column(kind);
      if (column == nullptr || (*column)[op.index].count() < 0) continue;
      times.push_back({kind_name(kind), jittered((*column)[op.index])});
    }
    std::vector<std::pair<std::string, std::string>> attributes;
    for (const auto& [key, value] : graph_.attributes(op)) attributes.emplace_back(key, value);
    const std::vector<ValueId> unknown(graph_.operands(op).size());  // connected at the end
    const int32_t first_edge = builder_.edge_count();
    const OpId added = builder_.add_op({.name = graph_.op_name(op),
                                        .kind = graph_.op_kind_name(op),
                                        .operands = unknown,
                                        .outputs = outputs,
                                        .flops = graph_.flops(op) * factor(),
                                        .transient_bytes = jittered(graph_.transient_bytes(op)),
                                        .run_times = times,
                                        .attributes = attributes});
    auto output = builder_.outputs(added).begin();
    for (const ValueId value : graph_.outputs(op)) {
      new_value_[value.index] = *output;
      ++output;
    }
    int32_t index = first_edge;
    for (const EdgeId edge : graph_.edges(op)) {
      const EdgeId new_edge{index++};
      later_.emplace_back(new_edge, graph_.edge_value(edge));
      give_transfers(edge, new_edge);
    }
  }

  std::string kind_name(int kind) const {
    return kind < 0 ? "" : graph_.device_kinds()[static_cast<size_t>(kind)];
  }

  void give_transfers(EdgeId edge, EdgeId new_edge) {
    if (!graph_.has_given_transfers()) return;
    const int kinds = static_cast<int>(graph_.device_kinds().size());
    for (int from = -1; from < kinds; ++from) {
      for (int to = -1; to < kinds; ++to) {
        const std::vector<Duration>* column = graph_.transfer_column(from, to);
        if (column == nullptr || (*column)[edge.index].count() < 0) continue;
        builder_.give_transfer(new_edge,
                               {kind_name(from), kind_name(to), jittered((*column)[edge.index])});
      }
    }
  }

  const Graph& graph_;
  double spread_;
  double bytes_times_;
  Rng rng_;
  GraphBuilder builder_;
  std::vector<ValueId> new_value_;
  std::vector<std::pair<EdgeId, ValueId>> later_;
};

}  // namespace

Result<Graph> perturbed(const Graph& graph, const PerturbSpec& spec) {
  if (!(spec.spread >= 0 && spec.spread < 1)) {
    return invalid_input("the spread must be at least 0 and below 1");
  }
  if (!(spec.bytes_times >= 1e-3 && spec.bytes_times <= 1e3)) {
    return invalid_input("the factor on bytes must be from 0.001 to 1000");
  }
  return Perturber(graph, spec).run();
}

}  // namespace tutti
