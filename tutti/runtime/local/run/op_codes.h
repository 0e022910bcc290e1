// The code for each op of a run, by its kind and device, looked up once when the run begins.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_OP_CODES_H_
#define TUTTI_RUNTIME_LOCAL_RUN_OP_CODES_H_

#include <vector>

#include "tutti/runtime/local/op_table.h"
#include "tutti/runtime/local/run/context.h"

namespace tutti {

class OpCodes {
 public:
  // Keeps references.
  OpCodes(const EngineContext& run, const OpTable& ops) : run_(run), ops_(ops) {}

  void begin();
  // Null if there is none.
  const OpTable::Entry* find(OpId op, DeviceId device) const {
    return codes_[static_cast<size_t>(run_.graph().op_kind(op).index) *
                      static_cast<size_t>(run_.machine.size()) +
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

  const EngineContext& run_;
  const OpTable& ops_;
  std::vector<const OpTable::Entry*> codes_;  // by kind x device
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_OP_CODES_H_
