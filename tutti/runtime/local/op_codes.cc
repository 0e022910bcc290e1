#include "tutti/runtime/local/op_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

void OpCodes::begin(const Graph& graph) {
  graph_ = &graph;
  codes_.clear();
  for (const std::string& kind : graph.op_kinds()) {
    for (const DeviceId device : machine_.devices()) {
      codes_.push_back(ops_.find(kind, machine_.device(device).kind));
    }
  }
}

Result<void> OpCodes::check_further(OpId op, DeviceId device, const OpTable::Entry* code) const {
  const Graph& graph = *graph_;
  if (code == nullptr) {
    return invalid_input(fmt::format(
        "op '{}' is of kind '{}', for which there is no code on device '{}' of kind '{}'; add some "
        "to the OpTable",
        graph.op_name(op), graph.op_kind_name(op), machine_.device(device).name,
        machine_.device(device).kind));
  }
  for (const ValueId value : graph.operands(op)) {
    if (Result<void> good = check_dtype(op, device, *code, value); !good) return good;
  }
  for (const ValueId value : graph.outputs(op)) {
    if (Result<void> good = check_dtype(op, device, *code, value); !good) return good;
  }
  return {};
}

Result<void> OpCodes::check_dtype(OpId op, DeviceId device, const OpTable::Entry& code,
                                  ValueId value) const {
  const Graph& graph = *graph_;
  const DType dtype = graph.dtype(value);
  const bool number = dtype == DType::bf16 || dtype == DType::f16 || dtype == DType::f64;
  if (!number || std::find(code.dtypes.begin(), code.dtypes.end(), dtype) != code.dtypes.end()) {
    return {};
  }
  std::string known;
  for (const DType each : code.dtypes) {
    known += std::string(known.empty() ? "" : " and ") + std::string(to_text(each));
  }
  return invalid_input(fmt::format(
      "op '{}' on device '{}': value '{}' is of dtype {}, and the code for kind '{}' on '{}' "
      "computes with {}; place it elsewhere, or make the graph of that dtype",
      graph.op_name(op), machine_.device(device).name, graph.value_name(value), to_text(dtype),
      graph.op_kind_name(op), machine_.device(device).kind, known));
}

Result<void> check_sizes(const Graph& graph) {
  for (const ValueId value : graph.values()) {
    const int64_t element = element_bytes(graph.dtype(value));
    if (element == 0 || graph.shape(value).empty()) continue;
    int64_t left = graph.bytes(value) / element;
    for (const int64_t size : graph.shape(value)) left = size == 0 ? INT64_MAX : left / size;
    if (left > 0) continue;
    return invalid_input(
        fmt::format("value '{}' states {} bytes, fewer than its shape and dtype have; leave its "
                    "bytes out",
                    graph.value_name(value), graph.bytes(value)));
  }
  return {};
}

Result<void> check_op_room(const Problem& problem) {
  if (!problem.has_memory_limits()) return {};
  const Graph& graph = problem.graph;
  for (const OpId op : graph.ops()) {
    int64_t bytes = graph.transient_bytes(op);
    for (const ValueId value : graph.outputs(op)) bytes += graph.bytes(value);
    const std::span<const DeviceId> devices = problem.devices_for(op);
    if (std::any_of(devices.begin(), devices.end(), [&](DeviceId device) {
          return bytes <= problem.memory_limit(problem.machine.memory_of(device));
        }))
      continue;
    return infeasible(fmt::format("op '{}' needs {} bytes, which no device that may run it has",
                                  graph.op_name(op), bytes));
  }
  return {};
}

}  // namespace tutti
