// Fetches say how much time an op's missing operands take to be brought to a device, one after
// another, for planners that think of places and not of time. A value that was brought to a memory
// for one op is there for the next.

#ifndef TUTTI_POLICY_PLACES_FETCHES_H_
#define TUTTI_POLICY_PLACES_FETCHES_H_

#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

class Fetches {
 public:
  // Keeps a reference to the problem.
  explicit Fetches(const Problem& problem);

  // Operands whose op is not placed yet count nothing.
  Duration time(OpId op, DeviceId device) const;

  // Whether an op placed on a device of that memory reads the value, so that it was brought there.
  bool brought(ValueId value, DeviceId device) const {
    return readers(value, problem_.machine.memory_of(device)) > 0;
  }

  // The op's operands are then in the device's memory. place and take_back of one op may be
  // repeated; take_back requires that the op is placed there.
  void place(OpId op, DeviceId device);
  void take_back(OpId op, DeviceId device);

 private:
  int32_t& readers(ValueId value, MemoryId memory) {
    return readers_[static_cast<size_t>(value.index) * memories_ +
                    static_cast<size_t>(memory.index)];
  }
  int32_t readers(ValueId value, MemoryId memory) const {
    return const_cast<Fetches*>(this)->readers(value, memory);
  }

  const Problem& problem_;
  size_t memories_;
  std::vector<DeviceId> device_of_;  // by op
  std::vector<int32_t> readers_;     // by value x memory: edges of ops placed there
};

}  // namespace tutti

#endif  // TUTTI_POLICY_PLACES_FETCHES_H_
