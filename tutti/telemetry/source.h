// A CounterSource reads counters of one kind: those of /proc, of the GPU's driver, of the
// processor, of the simulator. All look the same to the reader.

#ifndef TUTTI_TELEMETRY_SOURCE_H_
#define TUTTI_TELEMETRY_SOURCE_H_

#include <span>

#include "tutti/machine/counter.h"

namespace tutti {

class CounterSource {
 public:
  virtual ~CounterSource() = default;

  // The same list in the same order for the life of the source.
  virtual std::span<const Counter> counters() const = 0;

  // One value for each counter, in its unit. Shares and rates are those of the time since the last
  // call or, the first time, since the source was made. Not a number: nothing new to say.
  virtual void read(std::span<double> values) = 0;
};

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_SOURCE_H_
