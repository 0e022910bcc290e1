// A State is what a policy sees when it decides: which ops are ready, what runs where until when,
// where each value is, how much memory is left. A Draft (a plan being made) and every running
// runtime implement it, so that one policy answers before a run and during it.

#ifndef TUTTI_PLAN_STATE_H_
#define TUTTI_PLAN_STATE_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "tutti/plan/problem.h"

namespace tutti {

class State {
 public:
  virtual ~State() = default;

  virtual const Problem& problem() const = 0;

  // The clock of a run; 0 in a draft.
  virtual Duration now() const = 0;

  // Ops that may be decided now. In a draft: all producers are placed. In a run: all producers have
  // finished. The order means nothing, but is the same in every run; break ties by id.
  virtual std::span<const OpId> ready() const = 0;

  // Where an op has been placed; invalid if it has not.
  virtual DeviceId placement(OpId op) const = 0;

  // When an op that has been placed finishes, or is expected to.
  virtual Duration finish(OpId op) const = 0;

  // When a slot of the device has worked off what has been placed there so far.
  virtual Duration free_at(DeviceId device) const = 0;

  // The devices on which this ready op may be placed now, by id. Empty only if memory is short.
  virtual std::span<const DeviceId> devices_for(OpId op) const = 0;

  // Bytes still free in the device's memory; kUnlimitedBytes where nothing is enforced.
  virtual int64_t memory_left(DeviceId device) const = 0;

  // When all operands of this ready op would be in the device's memory, with nothing else on the
  // links.
  Duration arrival(OpId op, DeviceId device) const;

  // The earliest start of this ready op: its operands are there and a slot is free.
  Duration earliest_start(OpId op, DeviceId device) const {
    return std::max(arrival(op, device), free_at(device));
  }
};

}  // namespace tutti

#endif  // TUTTI_PLAN_STATE_H_
