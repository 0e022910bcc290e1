#include "tutti/trace/measurement.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

namespace tutti {

Measurement measured_now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  // A clock before 1970 is wrong; the trace must be readable all the same.
  return {.process = static_cast<int64_t>(getpid()), .began_unix_ms = std::max<int64_t>(ms, 0)};
}

}  // namespace tutti
