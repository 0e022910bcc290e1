// Graph inputs that stay in their memories from run to run, so that measuring a graph again and
// again does not load them each time. Used by the thread that begins a run.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_KEPT_INPUTS_H_
#define TUTTI_RUNTIME_LOCAL_RUN_KEPT_INPUTS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "tutti/base/id.h"
#include "tutti/runtime/local/values/pool.h"

namespace tutti {

class KeptInputs {
 public:
  // Null if that input is not kept there.
  void* find(ValueId value, MemoryId memory) const {
    const auto found = blocks_.find({value, memory});
    return found == blocks_.end() ? nullptr : found->second.address;
  }
  void keep(ValueId value, MemoryId memory, Pool& pool, void* address, int64_t bytes) {
    blocks_[{value, memory}] = {&pool, address, bytes};
  }
  // Which graph they are of. Inputs of another are given back.
  void belong_to(uint64_t graph_fingerprint) {
    if (graph_ != graph_fingerprint) give_back();
    graph_ = graph_fingerprint;
  }
  void give_back() {
    for (const auto& [key, block] : blocks_) block.pool->release(block.address, block.bytes);
    blocks_.clear();
  }

 private:
  struct Kept {
    Pool* pool;
    void* address;
    int64_t bytes;
  };
  uint64_t graph_ = 0;
  std::map<std::pair<ValueId, MemoryId>, Kept> blocks_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_KEPT_INPUTS_H_
