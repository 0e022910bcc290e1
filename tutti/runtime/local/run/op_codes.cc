#include "tutti/runtime/local/run/op_codes.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

void OpCodes::begin() {
  codes_.clear();
  for (const std::string& kind : run_.graph().op_kinds()) {
    for (const DeviceId device : run_.machine.devices()) {
      codes_.push_back(ops_.find(kind, run_.machine.device(device).kind));
    }
  }
}

Result<void> OpCodes::check_further(OpId op, DeviceId device, const OpTable::Entry* code) const {
  const Graph& graph = run_.graph();
  if (code == nullptr) {
    return invalid_input(fmt::format(
        "op '{}' is of kind '{}', for which there is no code on device '{}' of kind '{}'; add some "
        "to the OpTable",
        graph.op_name(op), graph.op_kind_name(op), run_.machine.device(device).name,
        run_.machine.device(device).kind));
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
  const Graph& graph = run_.graph();
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
      graph.op_name(op), run_.machine.device(device).name, graph.value_name(value), to_text(dtype),
      graph.op_kind_name(op), run_.machine.device(device).kind, known));
}

}  // namespace tutti
