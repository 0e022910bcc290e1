#include "tutti/policy/doppler/followed_devices.h"

#include <algorithm>
#include <cmath>

namespace tutti {

FollowedDevices::FollowedDevices(int devices) {
  for (int i = 0; i < devices; ++i) names_.push_back(DeviceId{i});
}

size_t FollowedDevices::find(DeviceId device, std::span<const DeviceId> allowed) const {
  const DeviceId named = names_[static_cast<size_t>(device.index)];
  const auto found = std::find(allowed.begin(), allowed.end(), named);
  return found == allowed.end() ? 0 : static_cast<size_t>(found - allowed.begin());
}

size_t FollowedDevices::first_equal(size_t chosen, std::span<const DeviceId> allowed,
                                    std::span<const float> logits) {
  constexpr float kSame = 1e-5F;  // sums of equal numbers in another order
  for (size_t i = 0; i < chosen; ++i) {
    if (std::abs(logits[i] - logits[chosen]) > kSame) continue;
    for (DeviceId& name : names_) {
      if (name == allowed[i]) {
        name = allowed[chosen];
      } else if (name == allowed[chosen]) {
        name = allowed[i];
      }
    }
    return i;
  }
  return chosen;
}

}  // namespace tutti
