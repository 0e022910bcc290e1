// What all parts of a run share: the machine, the problem and options of the run, its clock, and
// the threads that take part in it. Set by the Run when it begins; the parts only read it.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_CONTEXT_H_
#define TUTTI_RUNTIME_LOCAL_RUN_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/runtime/local/dispatch/crew.h"
#include "tutti/runtime/local/dispatch/ticks.h"
#include "tutti/runtime/local/local.h"
#include "tutti/runtime/streams.h"

namespace tutti {

// Grows, is never copied, and keeps its memory from run to run.
template <class T>
class RunTable {
 public:
  // What it holds is undefined.
  void resize(size_t size) {
    if (size > capacity_) {
      data_ = std::make_unique<T[]>(size);
      capacity_ = size;
    }
  }
  T& operator[](int32_t index) { return data_[static_cast<size_t>(index)]; }
  const T& operator[](int32_t index) const { return data_[static_cast<size_t>(index)]; }

 private:
  std::unique_ptr<T[]> data_;
  size_t capacity_ = 0;
};

struct EngineContext {
  explicit EngineContext(const Machine& bound) : machine(bound) {
    for (const DeviceId id : machine.devices()) memory_of_device.push_back(machine.memory_of(id));
  }

  const Machine& machine;
  std::vector<MemoryId> memory_of_device;
  TickClock clock;
  Crew crew;

  const Problem* problem = nullptr;
  const LocalOptions* options = nullptr;
  const DeviceId* device_of = nullptr;  // by op
  const Plan* plan = nullptr;           // that says which weights are kept; null: none does
  const Streams* streams = nullptr;     // of that plan
  bool one_memory = false;              // all ops and inputs are in one memory
  bool weightless = false;              // and no value has bytes, no op transient ones
  int64_t began = 0;                    // ticks

  const Graph& graph() const { return problem->graph; }
  Duration time_of(int64_t tick) const { return clock.span(began, tick); }
  // A weight with a home, of which the plan says whether it is kept or streamed.
  bool is_aside(ValueId value) const { return streams != nullptr && streams->manages(value); }
  bool keeps(ValueId weight, MemoryId memory) const { return plan->weights.keeps(weight, memory); }
  Duration now() const { return time_of(clock.now()); }
  MemoryId memory_of(OpId op) const {
    return memory_of_device[static_cast<size_t>(device_of[op.index].index)];
  }
  int64_t bytes_at_start(OpId op) const {
    int64_t bytes = graph().transient_bytes(op);
    for (const ValueId value : graph().outputs(op)) bytes += graph().bytes(value);
    return bytes;
  }
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_CONTEXT_H_
