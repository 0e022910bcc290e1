// How a simulated run goes.

#ifndef TUTTI_RUNTIME_SIM_OPTIONS_H_
#define TUTTI_RUNTIME_SIM_OPTIONS_H_

#include <cstdint>

namespace tutti {

// Who goes first among the ops that wait for a slot of one device.
enum class ReadyOrder : uint8_t { priority, fifo, lifo, random };

struct SimOptions {
  ReadyOrder order = ReadyOrder::priority;
  uint64_t seed = 0;    // for random order and sampled durations
  bool sample = false;  // draw durations from the costs' noise; false: means
  bool record = false;  // keep spans, so that trace() can be asked for
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_OPTIONS_H_
