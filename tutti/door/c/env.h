// What every environment of the C interface is: buffers for an observation and a mask, and a step.

#ifndef TUTTI_DOOR_C_ENV_H_
#define TUTTI_DOOR_C_ENV_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tutti/door/c/handles.h"

struct tutti_env {
  tutti_env(int32_t actions, int32_t observation)
      : mask(static_cast<size_t>(actions)), seen(static_cast<size_t>(observation)) {}
  virtual ~tutti_env() = default;
  tutti_env(const tutti_env&) = delete;
  tutti_env& operator=(const tutti_env&) = delete;

  // The action is allowed by the mask. Updates mask and observation.
  virtual tutti::Result<tutti_step> step(int32_t action) = 0;

  std::vector<uint8_t> mask;
  std::vector<float> seen;
  bool running = false;  // between a reset and the end of its episode
};

namespace tutti::door {

inline constexpr int32_t kMostActions = 1 << 16;
inline constexpr int32_t kFeatures = 8;  // of a pair of op and device

// The numbers of a pair of op and device. docs/python.md describes both kinds.
using PairFeatures = float[kFeatures];

}  // namespace tutti::door

#endif  // TUTTI_DOOR_C_ENV_H_
