// What PhysicalSimulator says when a run cannot go on.

#include <fmt/format.h>

#include <algorithm>

#include "tutti/runtime/sim/physical.h"

namespace tutti {

Error PhysicalSimulator::explain_standstill() const {
  const Graph& graph = problem_.graph;
  if (ledger_.keeps_books()) {
    const MemoryId memory = ledger_.overfull();
    if (memory.valid() && streams_.active()) {
      return infeasible(fmt::format(
          "the weights in memory '{}', its stream buffer and the graph inputs that ops read there "
          "take {} bytes more than its {}; keep fewer weights or allow more memory",
          problem_.machine.memory(memory).name, -ledger_.left(memory),
          bytes_to_text(problem_.memory_limit(memory))));
    }
    if (memory.valid()) {
      return infeasible(fmt::format(
          "the graph inputs that the ops in memory '{}' read take {} bytes more than its {}; allow "
          "more memory or spread the ops",
          problem_.machine.memory(memory).name, -ledger_.left(memory),
          bytes_to_text(problem_.memory_limit(memory))));
    }
  }
  if (plan_ == nullptr && !world_->status->ready.empty() && !ledger_.enforced()) {
    return failed(fmt::format(
        "the policy chose to wait with {} ops ready and nothing running: the run cannot go on",
        world_->status->ready.size()));
  }
  for (const OpId op : plan_ == nullptr ? world_->status->ready : std::vector<OpId>{}) {
    const std::span<const DeviceId> devices = problem_.devices_for(op);
    if (std::any_of(devices.begin(), devices.end(), [&](DeviceId device) {
          return ledger_.need(op) <= problem_.memory_limit(problem_.machine.memory_of(device));
        }))
      continue;
    return infeasible(fmt::format("op '{}' needs {} bytes, which no device that may run it has",
                                  graph.op_name(op), ledger_.need(op)));
  }
  for (const OpId op : graph.ops()) {
    if (!device_of_[op.index].valid() || absent_[op.index] > 0) continue;
    const MemoryId memory = memory_of(op);
    if (finish_[op.index].count() > 0 || ledger_.fits(op, memory)) continue;
    return infeasible(fmt::format(
        "the run stands still at {}: op '{}' needs {} bytes in memory '{}', of which {} are left, "
        "and nothing that runs will free any; allow more memory or place fewer ops there",
        to_text(now_), graph.op_name(op), ledger_.need(op), problem_.machine.memory(memory).name,
        ledger_.left(memory)));
  }
  for (const std::vector<int32_t>& waiting : waiting_for_room_) {
    if (waiting.empty()) continue;
    const Transfer& transfer = transfers_[waiting.front()];
    return infeasible(fmt::format(
        "the run stands still at {}: a copy of value '{}' needs {} bytes in memory '{}', of which "
        "{} are left, and nothing that runs will free any; allow more memory or place fewer ops "
        "there",
        to_text(now_), graph.value_name(transfer.value), graph.bytes(transfer.value),
        problem_.machine.memory(transfer.to).name, ledger_.left(transfer.to)));
  }
  if (const OpId op = streams_.active() ? streams_.stuck() : OpId{}; op.valid()) {
    const int64_t buffer = plan_->weights.stream_buffer_bytes[memory_of(op).index];
    return infeasible(fmt::format(
        "the run stands still at {}: the streamed weights of op '{}' do not fit the stream buffer "
        "of "
        "memory '{}', which has {} bytes; make the buffer larger or keep the weights",
        to_text(now_), graph.op_name(op), problem_.machine.memory(memory_of(op)).name, buffer));
  }
  return infeasible(fmt::format(
      "the run stands still at {} with {} ops left: the plan's strict order contradicts the graph",
      to_text(now_), unfinished_));
}

}  // namespace tutti
