#include "tutti/kernels/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/kernels/kernel.h"

namespace tutti {
namespace {

// A value without a stated shape may have any.
Result<void> check_shape(const Graph& graph, ValueId value, const Shape& shape) {
  const auto stated = graph.shape(value);
  if (stated.empty() || std::equal(stated.begin(), stated.end(), shape.begin(), shape.end())) {
    return {};
  }
  return invalid_input(fmt::format("value '{}' is of shape {}, but the graph says {}",
                                   graph.value_name(value), wholes_text(shape),
                                   wholes_text(stated)));
}

Result<Tensor> run_op(const Graph& graph, OpId op, const std::vector<Tensor>& values) {
  std::vector<const Tensor*> operands;
  for (const ValueId value : graph.operands(op)) {
    operands.push_back(&values[static_cast<size_t>(value.index)]);
  }
  Result<Tensor> output =
      run_reference(graph.op_kind_name(op), Attributes(graph.attributes(op)), operands);
  if (!output) {
    return invalid_input(fmt::format("op '{}': {}", graph.op_name(op), output.error().message));
  }
  return output;
}

}  // namespace

Result<std::vector<Tensor>> evaluate(const Graph& graph, std::vector<Tensor> values,
                                     const Stop& stop) {
  if (values.size() != static_cast<size_t>(graph.value_count())) {
    return invalid_input(fmt::format("{} tensors are given for {} values of the graph",
                                     values.size(), graph.value_count()));
  }
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    const Shape& shape = values[static_cast<size_t>(value.index)].shape;
    if (auto checked = check_shape(graph, value, shape); !checked) return checked.error();
  }
  for (const OpId op : graph.topological_order()) {
    if (stop.now()) return failed("stopped before the reference was worked out");
    if (graph.outputs(op).size() != 1) {
      return invalid_input(fmt::format("op '{}' makes {} values; kernels make one",
                                       graph.op_name(op), graph.outputs(op).size()));
    }
    Result<Tensor> output = run_op(graph, op, values);
    if (!output) return output.error();
    const ValueId value = graph.outputs(op).front();
    if (auto checked = check_shape(graph, value, output->shape); !checked) return checked.error();
    values[static_cast<size_t>(value.index)] = std::move(*output);
  }
  return values;
}

}  // namespace tutti
