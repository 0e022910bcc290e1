// The fingerprint of the graph that a GraphBuilder holds.

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tutti/base/fingerprint.h"
#include "tutti/graph/builder.h"

namespace tutti {

// The same for two graphs that say the same, whatever the order in which inputs were mixed with ops
// and device kinds first appeared: a file lists inputs before ops, other builders may not.
void GraphBuilder::compute_fingerprint() {
  Fingerprint print;
  const auto add_value_content = [&](ValueId value) {
    print.add(graph_.bytes(value));
    print.add(static_cast<int32_t>(graph_.dtype(value)));
  };
  std::unordered_map<int32_t, int32_t> input_rank;  // by value
  for (const Graph::InputInfo& input : graph_.inputs_) {
    input_rank.emplace(input.value.index, static_cast<int32_t>(input_rank.size()));
    add_value_content(input.value);
    print.add(static_cast<int32_t>(input.residence.where));
    print.add(input.residence.device);
    print.add(static_cast<int32_t>(input.weight));
  }
  for (const OpId op : graph_.ops()) {
    print.add(graph_.op_name(op));
    print.add(graph_.op_kind_name(op));
    print.add(graph_.flops(op));
    print.add(graph_.transient_bytes(op));
    print.add(graph_.outputs(op).size());
    for (const ValueId value : graph_.outputs(op)) add_value_content(value);
    print.add(graph_.edges(op).size());
    for (const ValueId value : graph_.operands(op)) {
      const OpId producer = graph_.producer(value);
      print.add(producer.index);
      print.add(producer.valid() ? value.index - graph_.outputs(producer).front().index
                                 : input_rank.at(value.index));
    }
  }
  add_given_times(print);
  graph_.fingerprint_ = print.value();
}

// Column by column, in the order of the names of the device kinds.
void GraphBuilder::add_given_times(Fingerprint& print) const {
  const auto kind_name = [&](int kind) {
    return kind < 0 ? std::string_view() : std::string_view(graph_.device_kinds_[kind]);
  };
  std::map<std::string_view, const std::vector<Duration>*> run_times;
  for (const auto& column : graph_.run_times_) {
    run_times.emplace(kind_name(column.kind), &column.times);
  }
  std::map<std::pair<std::string_view, std::string_view>, const std::vector<Duration>*> transfers;
  for (const auto& column : graph_.transfers_) {
    transfers.emplace(std::pair(kind_name(column.from_kind), kind_name(column.to_kind)),
                      &column.times);
  }
  for (const auto& [kind, times] : run_times) {
    print.add(kind);
    for (const Duration time : *times) print.add(static_cast<int64_t>(time.count()));
  }
  for (const auto& [kinds, times] : transfers) {
    print.add(kinds.first);
    print.add(kinds.second);
    for (const Duration time : *times) print.add(static_cast<int64_t>(time.count()));
  }
}

}  // namespace tutti
