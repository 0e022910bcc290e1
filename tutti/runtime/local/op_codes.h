// The code for each op of a graph, by its kind and device, looked up once when a run begins.

#ifndef TUTTI_RUNTIME_LOCAL_OP_CODES_H_
#define TUTTI_RUNTIME_LOCAL_OP_CODES_H_

#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/local/op_table.h"

namespace tutti {

class OpCodes {
 public:
  // Keeps references.
  OpCodes(const Machine& machine, const OpTable& ops) : machine_(machine), ops_(ops) {}

  // Of that graph, which must stay.
  void begin(const Graph& graph);
  // Null if there is none.
  const OpTable::Entry* find(OpId op, DeviceId device) const {
    return codes_[static_cast<size_t>(graph_->op_kind(op).index) *
                      static_cast<size_t>(machine_.size()) +
                  static_cast<size_t>(device.index)];
  }
  // Fails (invalid_input) if there is no code for the op there, or none for its dtypes.
  Result<void> check(OpId op, DeviceId device) const {
    const OpTable::Entry* code = find(op, device);
    if (code != nullptr && code->dtypes.empty()) return {};
    return check_further(op, device, code);
  }

 private:
  Result<void> check_further(OpId op, DeviceId device, const OpTable::Entry* code) const;
  Result<void> check_dtype(OpId op, DeviceId device, const OpTable::Entry& code,
                           ValueId value) const;

  const Machine& machine_;
  const OpTable& ops_;
  const Graph* graph_ = nullptr;
  std::vector<const OpTable::Entry*> codes_;  // by kind x device
};

// Kernels write as many elements as a shape has: fails (invalid_input) if a value states fewer
// bytes than that.
Result<void> check_sizes(const Graph& graph);
// Fails (infeasible) if what an op takes at its start is more than any device that may run it has.
Result<void> check_op_room(const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_OP_CODES_H_
