#include "tutti/policy/online/fifo.h"

#include <algorithm>

namespace tutti {

std::optional<PlacingDispatcher::Choice> Fifo::choose(const ClusterState& state) {
  for (const JobId id : state.in_system) {
    const JobStatus& job = state.job(id);
    for (const OpId op : job.ready) {
      const std::vector<Opening>& open = bearable(state, job, op, patience_);
      if (open.empty()) continue;
      return Choice{
          &job, op,
          *std::min_element(open.begin(), open.end(),
                            [](const Opening& a, const Opening& b) { return a.time < b.time; })};
    }
  }
  return std::nullopt;
}

}  // namespace tutti
