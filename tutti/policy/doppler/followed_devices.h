// Maps the devices of a plan that is followed to devices of the machine. At first each to itself;
// if a net scores two devices equally they may change names, so that the plan becomes an equal one
// that the net can learn (Acting::rename_equals).

#ifndef TUTTI_POLICY_DOPPLER_FOLLOWED_DEVICES_H_
#define TUTTI_POLICY_DOPPLER_FOLLOWED_DEVICES_H_

#include <span>
#include <vector>

#include "tutti/base/id.h"

namespace tutti {

class FollowedDevices {
 public:
  explicit FollowedDevices(int devices);

  // The place in `allowed` of what the plan calls `device`; the first if it is not among them.
  size_t find(DeviceId device, std::span<const DeviceId> allowed) const;

  // The first place whose logit is the same as that of `chosen`; the two change names.
  size_t first_equal(size_t chosen, std::span<const DeviceId> allowed,
                     std::span<const float> logits);

 private:
  std::vector<DeviceId> names_;  // by device of the plan
};

}  // namespace tutti

#endif  // TUTTI_POLICY_DOPPLER_FOLLOWED_DEVICES_H_
