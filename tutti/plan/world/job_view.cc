#include "tutti/plan/world/job_view.h"

#include <algorithm>

#include "tutti/plan/world/online_choices.h"

namespace tutti {

JobView::JobView(const WorldState& state, const JobStatus& job) : state_(state), job_(job) {
  for (const OpId op : job.ready) {
    const std::span<const DeviceId> devices = eventual_devices(op);
    if (std::any_of(devices.begin(), devices.end(), [&](DeviceId d) { return has_room(op, d); }))
      ready_.push_back(op);
  }
}

Duration JobView::finish(OpId op) const {
  const OpStatus& status = job_.ops[op.index];
  return status.phase == OpStatus::Phase::queued ? free_at(status.device) : status.finished;
}

std::span<const DeviceId> JobView::eventual_devices(OpId op) const {
  int64_t bytes_at_start = 0;
  if (problem().has_memory_limits()) {
    bytes_at_start = problem().graph.transient_bytes(op);
    for (const ValueId value : problem().graph.outputs(op))
      bytes_at_start += problem().graph.bytes(value);
  }
  return online_choices(*this, op, bytes_at_start, eventual_);
}

std::span<const DeviceId> JobView::devices_for(OpId op) const {
  choices_.clear();
  for (const DeviceId device : eventual_devices(op)) {
    if (has_room(op, device)) choices_.push_back(device);
  }
  return choices_;
}

}  // namespace tutti
