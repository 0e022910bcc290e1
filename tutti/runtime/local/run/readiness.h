// What each op of a planned run still waits for: operands that are not in its memory, the start of
// the op before it if a strict order holds, and the end of the level before its own if there are
// barriers. Any thread of the run may call; `ready(op)` is called once for each op, by the thread
// that took the last thing away.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_READINESS_H_
#define TUTTI_RUNTIME_LOCAL_RUN_READINESS_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/runtime/local/run/context.h"

namespace tutti {

class Readiness {
 public:
  explicit Readiness(const EngineContext& run) : run_(run) {}

  void begin(const Plan& plan);

  // From the start.
  bool is_ready(OpId op) const { return absent_[op.index].load(std::memory_order_relaxed) == 0; }
  // Once for each operand.
  template <class Ready>
  void operand_came(OpId op, const Ready& ready) {
    if (absent_[op.index].fetch_sub(1, std::memory_order_acq_rel) == 1) ready(op);
  }
  template <class Ready>
  void started(OpId op, const Ready& ready) {
    if (next_in_order_.empty()) return;
    const OpId next = next_in_order_[static_cast<size_t>(op.index)];
    if (next.valid()) operand_came(next, ready);
  }
  template <class Ready>
  void ended(OpId op, const Ready& ready) {
    if (level_.empty()) return;
    const int32_t level = level_[static_cast<size_t>(op.index)];
    if (left_of_level_[level].fetch_sub(1) > 1) return;
    if (static_cast<size_t>(level) + 1 == ops_of_level_.size()) return;
    for (const OpId next : ops_of_level_[static_cast<size_t>(level) + 1]) {
      operand_came(next, ready);
    }
  }

 private:
  void count_operands();
  void add_strict_orders(const Plan& plan);
  void add_levels();

  const EngineContext& run_;
  RunTable<std::atomic<int32_t>> absent_;  // by op
  std::vector<OpId> next_in_order_;        // by op; empty: no strict order
  std::vector<int32_t> level_;             // by op; empty: no barriers
  std::vector<std::vector<OpId>> ops_of_level_;
  RunTable<std::atomic<int32_t>> left_of_level_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_READINESS_H_
