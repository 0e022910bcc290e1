#include "tutti/graph/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tutti/base/check.h"

namespace tutti {
namespace {

constexpr Duration kNotGiven{-1};
constexpr int kMostDeviceKinds = 16;

// Grows a column that is only kept once some op or edge uses it.
template <class T>
void set_in_column(std::vector<T>& column, size_t index, T value, T fallback) {
  if (column.size() <= index) column.resize(index + 1, fallback);
  column[index] = value;
}

}  // namespace

GraphBuilder::GraphBuilder(std::string name) {
  graph_.name_ = std::move(name);
  graph_.op_name_begin_.push_back(0);
  graph_.operand_begin_.push_back(0);
}

bool GraphBuilder::fits(size_t new_operands, size_t new_values) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int32_t>::max());
  if (graph_.operands_.size() + new_operands > kMost ||
      graph_.producer_.size() + new_values > kMost || graph_.op_kind_.size() + 1 > kMost) {
    too_large_ = true;
  }
  return !too_large_;
}

ValueId GraphBuilder::add_value(const ValueSpec& value, OpId producer) {
  const ValueId id{graph_.value_count()};
  graph_.producer_.push_back(producer);
  graph_.bytes_.push_back(value.bytes);
  if (value.dtype != DType::unknown) {
    set_in_column(graph_.dtype_, static_cast<size_t>(id.index), static_cast<uint8_t>(value.dtype),
                  uint8_t{0});
  }
  if (!value.shape.empty()) {
    graph_.shape_begin_.resize(static_cast<size_t>(id.index) + 1,
                               static_cast<int64_t>(graph_.shape_dims_.size()));
    graph_.shape_dims_.insert(graph_.shape_dims_.end(), value.shape.begin(), value.shape.end());
  }
  if (!value.name.empty()) graph_.value_names_.emplace_back(id, value.name);
  return id;
}

ValueId GraphBuilder::add_input(const InputSpec& input) {
  if (!fits(/*new_operands=*/0, /*new_values=*/1)) return {};
  const ValueId id = add_value(input.value, OpId{});
  if (input.value.name.empty()) {
    graph_.value_names_.emplace_back(id, fmt::format("input{}", graph_.inputs_.size()));
  }
  graph_.inputs_.push_back({id, input.residence, input.weight});
  return id;
}

OpKindId GraphBuilder::kind_of(std::string_view name) {
  if (last_kind_id_.valid() && name == last_kind_) return last_kind_id_;
  const auto [entry, added] =
      op_kind_index_.try_emplace(std::string(name), static_cast<int32_t>(graph_.op_kinds_.size()));
  if (added) graph_.op_kinds_.emplace_back(name);
  last_kind_ = name;
  last_kind_id_ = OpKindId{entry->second};
  return last_kind_id_;
}

OpId GraphBuilder::add_op(const OpSpec& op) {
  const OpId id{graph_.size()};
  const auto index = static_cast<size_t>(id.index);
  if (!fits(op.operands.size(), op.outputs.size())) return {};
  graph_.op_names_ += op.name;
  graph_.op_name_begin_.push_back(static_cast<int64_t>(graph_.op_names_.size()));
  graph_.op_kind_.push_back(kind_of(op.kind));
  for (const ValueId operand : op.operands) {
    graph_.operands_.push_back(operand);
    graph_.edge_to_.push_back(id);
  }
  graph_.operand_begin_.push_back(static_cast<int32_t>(graph_.operands_.size()));
  graph_.first_output_.push_back(graph_.value_count());
  const auto output_count = static_cast<int32_t>(op.outputs.size());
  if (output_count != 1) {
    set_in_column(graph_.output_count_, index, output_count, 1);
  } else if (!graph_.output_count_.empty()) {
    set_in_column(graph_.output_count_, index, 1, 1);
  }
  for (const ValueSpec& output : op.outputs) add_value(output, id);
  if (op.flops != 0) set_in_column(graph_.flops_, index, op.flops, 0.0);
  if (op.transient_bytes != 0) {
    set_in_column(graph_.transient_bytes_, index, op.transient_bytes, int64_t{0});
  }
  for (const GivenTime& given : op.run_times) give_run_time(id, given);
  if (!op.attributes.empty()) {
    graph_.attribute_begin_.resize(index + 1, static_cast<int32_t>(graph_.attributes_.size()));
    graph_.attributes_.insert(graph_.attributes_.end(), op.attributes.begin(), op.attributes.end());
  }
  if (op.command != nullptr) graph_.commands_.emplace_back(id, *op.command);
  return id;
}

int GraphBuilder::device_kind_of(std::string_view name) {
  if (name.empty()) return -1;
  const int found = graph_.device_kind_index(name);
  if (found >= 0) return found;
  if (graph_.device_kinds_.size() == kMostDeviceKinds) {
    too_many_device_kinds_ = true;
    return 0;
  }
  graph_.device_kinds_.emplace_back(name);
  return static_cast<int>(graph_.device_kinds_.size()) - 1;
}

void GraphBuilder::give_run_time(OpId op, const GivenTime& given) {
  const int kind = device_kind_of(given.device_kind);
  auto column =
      std::find_if(graph_.run_times_.begin(), graph_.run_times_.end(),
                   [&](const Graph::RunTimeColumn& candidate) { return candidate.kind == kind; });
  if (column == graph_.run_times_.end()) {
    column = graph_.run_times_.insert(graph_.run_times_.end(), {kind, {}});
  }
  set_in_column(column->times, static_cast<size_t>(op.index), given.time, kNotGiven);
}

void GraphBuilder::give_transfer(EdgeId edge, const GivenTransfer& given) {
  const int from = device_kind_of(given.from_kind);
  const int to = device_kind_of(given.to_kind);
  auto column = std::find_if(graph_.transfers_.begin(), graph_.transfers_.end(),
                             [&](const Graph::TransferColumn& candidate) {
                               return candidate.from_kind == from && candidate.to_kind == to;
                             });
  if (column == graph_.transfers_.end()) {
    column = graph_.transfers_.insert(graph_.transfers_.end(), {from, to, {}});
  }
  set_in_column(column->times, static_cast<size_t>(edge.index), given.time, kNotGiven);
}

void GraphBuilder::add_consumers() {
  const auto values = static_cast<size_t>(graph_.value_count());
  graph_.consumer_begin_.assign(values + 1, 0);
  for (const ValueId value : graph_.operands_) ++graph_.consumer_begin_[value.index + 1];
  for (size_t i = 0; i < values; ++i) graph_.consumer_begin_[i + 1] += graph_.consumer_begin_[i];
  std::vector<int32_t> next(graph_.consumer_begin_.begin(), graph_.consumer_begin_.end() - 1);
  graph_.consumers_.resize(graph_.operands_.size());
  for (int32_t edge = 0; edge < graph_.edge_count(); ++edge) {
    graph_.consumers_[next[graph_.operands_[edge].index]++] = EdgeId{edge};
  }
}

Result<void> GraphBuilder::order_ops() {
  const int32_t count = graph_.size();
  std::vector<int32_t> missing(static_cast<size_t>(count), 0);
  bool ids_are_an_order = true;
  for (int32_t edge = 0; edge < graph_.edge_count(); ++edge) {
    const OpId from = graph_.edge_from(EdgeId{edge});
    if (!from.valid()) continue;
    const OpId to = graph_.edge_to(EdgeId{edge});
    ++missing[to.index];
    ids_are_an_order = ids_are_an_order && from < to;
  }
  std::vector<OpId>& order = graph_.topological_order_;
  order.reserve(static_cast<size_t>(count));
  if (ids_are_an_order) {
    for (const OpId op : graph_.ops()) order.push_back(op);
    return {};
  }
  for (const OpId op : graph_.ops()) {
    if (missing[op.index] == 0) order.push_back(op);
  }
  for (size_t head = 0; head < order.size(); ++head) {
    for (const EdgeId edge : graph_.out_edges(order[head])) {
      const OpId to = graph_.edge_to(edge);
      if (--missing[to.index] == 0) order.push_back(to);
    }
  }
  if (static_cast<int32_t>(order.size()) == count) return {};
  for (const OpId op : graph_.ops()) {
    if (missing[op.index] > 0) {
      return invalid_input(fmt::format("op '{}' is on or behind a cycle; a dataflow graph has none",
                                       graph_.op_name(op)));
    }
  }
  return {};
}

Result<Graph> GraphBuilder::build() && {
  if (too_large_) {
    return invalid_input(
        "the graph has more than 2147483647 ops, values or edges; split it into parts");
  }
  if (too_many_device_kinds_) {
    return invalid_input(
        fmt::format("given times name more than {} kinds of device; merge some", kMostDeviceKinds));
  }
  for (int32_t edge = 0; edge < graph_.edge_count(); ++edge) {
    if (!graph_.operands_[edge].valid()) {
      return invalid_input(fmt::format("op '{}' has an operand that no op makes",
                                       graph_.op_name(graph_.edge_to_[edge])));
    }
  }
  // Columns reach to the last op that used them; give the rest their fallback.
  const auto ops = static_cast<size_t>(graph_.size());
  const auto values = static_cast<size_t>(graph_.value_count());
  const auto edges = static_cast<size_t>(graph_.edge_count());
  if (!graph_.flops_.empty()) graph_.flops_.resize(ops, 0.0);
  if (!graph_.transient_bytes_.empty()) graph_.transient_bytes_.resize(ops, 0);
  if (!graph_.output_count_.empty()) graph_.output_count_.resize(ops, 1);
  if (!graph_.dtype_.empty()) graph_.dtype_.resize(values, 0);
  if (!graph_.shape_begin_.empty()) {
    graph_.shape_begin_.resize(values + 1, static_cast<int64_t>(graph_.shape_dims_.size()));
  }
  if (!graph_.attribute_begin_.empty()) {
    graph_.attribute_begin_.resize(ops + 1, static_cast<int32_t>(graph_.attributes_.size()));
  }
  for (auto& column : graph_.run_times_) column.times.resize(ops, kNotGiven);
  for (auto& column : graph_.transfers_) column.times.resize(edges, kNotGiven);
  add_consumers();
  if (Result<void> ordered = order_ops(); !ordered) return ordered.error();
  compute_fingerprint();
  graph_.operands_.shrink_to_fit();
  graph_.operand_begin_.shrink_to_fit();
  graph_.first_output_.shrink_to_fit();
  graph_.flops_.shrink_to_fit();
  for (auto& column : graph_.run_times_) column.times.shrink_to_fit();
  for (auto& column : graph_.transfers_) column.times.shrink_to_fit();
  graph_.edge_to_.shrink_to_fit();
  graph_.bytes_.shrink_to_fit();
  graph_.producer_.shrink_to_fit();
  graph_.op_names_.shrink_to_fit();
  graph_.op_name_begin_.shrink_to_fit();
  graph_.op_kind_.shrink_to_fit();
  return std::move(graph_);
}

}  // namespace tutti
