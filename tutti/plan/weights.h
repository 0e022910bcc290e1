// Weights with homes: graph inputs that stay in memory, whose residence names the host or a device.
// That memory is the weight's home, which it never leaves. For every other memory a plan says
// whether the weight is kept there for the whole run. An op whose memory neither is the home of a
// weight nor keeps it reads a copy that is streamed: it comes from home before the op starts and is
// dropped afterwards. Copies share the memory's stream buffer.
//
// This is data and arithmetic. What is kept where is decided in tutti/policy/schedule/keeping.h;
// the simulator streams in tutti/runtime/streams.h.

#ifndef TUTTI_PLAN_WEIGHTS_H_
#define TUTTI_PLAN_WEIGHTS_H_

#include <cstdint>
#include <vector>

#include "tutti/base/id.h"

namespace tutti {

class Problem;

struct WeightKeeping {
  std::vector<std::vector<ValueId>> kept{};    // by memory, by ascending id, never at home
  std::vector<int64_t> stream_buffer_bytes{};  // by memory; copies that are on their way or in use

  // False: the plan says nothing of weights with homes.
  bool stated() const { return !kept.empty(); }
  bool keeps(ValueId weight, MemoryId memory) const;
  friend bool operator==(const WeightKeeping&, const WeightKeeping&) = default;
};

// By memory: the weights at home there, those kept there, and the stream buffer. They are taken for
// the whole run. Requires a keeping that is stated.
std::vector<int64_t> reserved_bytes(const Problem& problem, const WeightKeeping& keeping);

// The weights that the op reads by streams if it runs on that memory, by id, each once. Replaces
// what was in `weights`.
void find_streamed(const Problem& problem, const WeightKeeping& keeping, OpId op, MemoryId memory,
                   std::vector<ValueId>& weights);

// By memory: the most bytes of streamed weights that one op placed there reads. A stream buffer
// must hold as much.
std::vector<int64_t> least_buffer_bytes(const Problem& problem, const WeightKeeping& keeping,
                                        const std::vector<DeviceId>& placement);

// What a plan does with weights in one memory.
struct WeightUse {
  int64_t kept_bytes = 0;
  int64_t streamed_bytes = 0;  // of the weights that ops placed there read by streams, each once
  int64_t in_place_bytes = 0;  // read at home, each once
  int64_t buffer_bytes = 0;
  int kept = 0;  // how many weights
  int streamed = 0;
  int in_place = 0;
};
// By memory. Requires a keeping that is stated.
std::vector<WeightUse> weight_use(const Problem& problem, const WeightKeeping& keeping,
                                  const std::vector<DeviceId>& placement);

}  // namespace tutti

#endif  // TUTTI_PLAN_WEIGHTS_H_
