#include "tutti/runtime/local/jobs/job_run.h"

#include <algorithm>

namespace tutti {

JobRun::JobRun(std::shared_ptr<const Job> job, const OpTable& ops, Memories& memories,
               std::shared_ptr<JobInputs> inputs, const std::vector<ValueId>& keep, Ended ended)
    : values(*job, memories, std::move(inputs), keep),
      entries(std::make_unique<OpEntry[]>(static_cast<size_t>(job->graph().size()))),
      codes(job->problem().machine, ops),
      job_(std::move(job)),
      ended_(std::move(ended)) {
  const Graph& graph = job_->graph();
  codes.begin(graph);
  int64_t transient = 0;
  for (const OpId op : graph.ops()) {
    OpEntry& entry = entries[static_cast<size_t>(op.index)];
    entry.job = this;
    entry.op = op;
    entry.bytes_at_start = graph.transient_bytes(op);
    transient = std::max(transient, graph.transient_bytes(op));
    for (const ValueId value : graph.outputs(op)) entry.bytes_at_start += graph.bytes(value);
  }
  const Machine& machine = job_->problem().machine;
  for (const DeviceId device : machine.devices())
    most_bytes += transient * machine.device(device).slots;
  for (const ValueId value : graph.values()) most_bytes += graph.bytes(value);
}

}  // namespace tutti
