// What the local engine needs of hardware, whatever it is: memories that hold values, slots that
// run ops, and copiers between memories. runtime/local/cpu and runtime/local/cuda implement these;
// the engine knows neither cores nor streams.

#ifndef TUTTI_RUNTIME_LOCAL_HARDWARE_H_
#define TUTTI_RUNTIME_LOCAL_HARDWARE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "tutti/base/result.h"
#include "tutti/machine/machine.h"
#include "tutti/runtime/local/op_table.h"

namespace tutti {

// One memory. Any thread may call it, several at once.
class Store {
 public:
  virtual ~Store() = default;
  // Null if there is no room. Aligned to at least 64 bytes; what it holds is undefined.
  virtual void* allocate(int64_t bytes) = 0;
  virtual void release(void* address, int64_t bytes) = 0;
  // Whether its addresses can be read and written by any code of this process.
  virtual bool ordinary() const { return false; }
  // Between here and ordinary memory of this process, done on return.
  virtual Result<void> write(void* to, const void* from, int64_t bytes) = 0;
  virtual Result<void> read(void* to, const void* from, int64_t bytes) = 0;
};

// One slot of a device. All calls come from one thread, the slot's own, on which enter was called
// first: it binds the thread to its cores or its GPU.
class SlotRunner {
 public:
  virtual ~SlotRunner() = default;
  virtual Result<void> enter() = 0;
  // Runs the op and returns when it has ended. The call's part and lane are the runner's to fill.
  virtual Result<void> run(const OpTable::Entry& entry, OpCall& call) = 0;
};

// Moves values over one hop of a route. All calls come from one thread, as with a slot; it may have
// been started by a slot's thread and be bound as that is, until enter binds it again.
class Copier {
 public:
  virtual ~Copier() = default;
  // If it fails nothing is copied, and it may be called again.
  virtual Result<void> enter() = 0;
  // Done on return. Addresses are in the stores at the hop's two ends.
  virtual Result<void> copy(void* to, const void* from, int64_t bytes) = 0;
};

// Everything of one machine, bound to this host's cores and GPUs.
class Hardware {
 public:
  virtual ~Hardware() = default;
  virtual Store& store(MemoryId memory) = 0;
  virtual std::unique_ptr<SlotRunner> slot(DeviceId device, int index) = 0;
  // Null if nothing can go from one to the other directly.
  virtual std::unique_ptr<Copier> copier(MemoryId from, MemoryId to) = 0;
  // What a person should know of the binding, in one sentence; empty: nothing.
  virtual std::string note() const { return {}; }
};

// Binds each device to this host by the word before the first '-' of its kind: "cpu" to cores,
// "gpu" to a GPU or a partition of one (gpus.h).
// Fails (invalid_input) with a sentence on other kinds, and where this host lacks what they ask.
Result<std::unique_ptr<Hardware>> bind_hardware(const Machine& machine);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_HARDWARE_H_
