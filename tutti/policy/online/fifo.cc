#include "tutti/policy/online/fifo.h"

#include <algorithm>
#include <utility>

namespace tutti {

std::optional<PlacingDecider::Choice> Fifo::choose(const WorldState& state) {
  const auto cost = [&](const Opening& opening) {
    if (prefer_ == Prefer::quickest) return std::pair(0.0, opening.time);
    const int slots = state.cluster->machine().device(opening.device).slots;
    const int busy = slots - state.devices[opening.device.index].idle_slots;
    return std::pair(static_cast<double>(busy) / slots, opening.time);
  };
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    for (const OpId op : job.ready) {
      const std::vector<Opening>& open = bearable(state, job, op, patience_);
      if (open.empty()) continue;
      return Choice{
          &job, op,
          *std::min_element(open.begin(), open.end(),
                            [&](const Opening& a, const Opening& b) { return cost(a) < cost(b); })};
    }
  }
  return std::nullopt;
}

}  // namespace tutti
