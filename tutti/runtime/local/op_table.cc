#include "tutti/runtime/local/op_table.h"

#include "tutti/kernels/kernel.h"

namespace tutti {

OpTable OpTable::standard() {
  OpTable table;
  for (const Kernel& kernel : kernels()) {
    const std::string_view kind = kernel.kind;
    table.add(std::string(kind), "cpu",
              [kind](const OpCall& call) -> Result<void> {
                if (call.outputs.size() != 1) {
                  return invalid_input(std::string(kind) + " makes one value");
                }
                return run_cpu(kind, call.attributes, call.operands, call.outputs[0], call.part);
              },
              kernel.split == Kernel::Split::parts ? Split::parts : Split::none, {DType::f32});
    if (kernel.cuda == nullptr) continue;
    table.add(std::string(kind), "gpu",
              [kind](const OpCall& call) -> Result<void> {
                if (call.outputs.size() != 1) {
                  return invalid_input(std::string(kind) + " makes one value");
                }
                return run_cuda(kind, call.attributes, call.operands, call.outputs[0],
                                *static_cast<CudaLane*>(call.lane));
              },
              Split::none, {DType::f32, DType::bf16});
  }
  return table;
}

void OpTable::add(std::string kind, std::string device_kind, OpCode code, Split split,
                  std::vector<DType> dtypes) {
  entries_[{std::move(kind), std::move(device_kind)}] = {std::move(code), split, std::move(dtypes)};
}

const OpTable::Entry* OpTable::find(std::string_view kind, std::string_view device_kind) const {
  // By the whole kind, then by its first word.
  for (const std::string_view name : {device_kind, device_kind.substr(0, device_kind.find('-'))}) {
    const auto found = entries_.find(std::pair(std::string(kind), std::string(name)));
    if (found != entries_.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace tutti
