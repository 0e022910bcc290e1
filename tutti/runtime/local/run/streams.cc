// Weights that are streamed during a run. Their copies have room in the stream buffers, which are
// taken from the books of memory when the run begins, as is what a plan keeps.

#include "tutti/runtime/local/run/values.h"

namespace tutti {

void Values::reserve_for_streams() {
  if (run_.streams == nullptr) return;
  for (int32_t i = 0; i < run_.machine.memory_count(); ++i) {
    const MemoryId memory{i};
    int64_t bytes = run_.plan->weights.stream_buffer_bytes[static_cast<size_t>(i)];
    // What is kept takes its room though no op there reads it.
    for (const ValueId weight : run_.plan->weights.kept[static_cast<size_t>(i)]) {
      if (copies_.find(weight, memory) < 0) bytes += run_.graph().bytes(weight);
    }
    if (bytes > 0) pool(memory).take_room_anyway(bytes);
  }
}

std::vector<OpId> Values::send_streams() {
  std::vector<Streams::Copy> setting_out;
  std::vector<Streams::Served> served;
  {
    const MutexLock hold(streams_lock_);
    streams_->issue(setting_out, served);
  }
  for (const Streams::Copy& copy : setting_out) {
    const int32_t index = copies_.find(copy.weight, copy.to);
    // A kept weight that is loaded has room of its own.
    if (run_.keeps(copy.weight, copy.to)) {
      request_transfer(index);
    } else {
      start_transfer(index);
    }
  }
  std::vector<OpId> ops;
  for (const Streams::Served& one : served) ops.push_back(one.op);
  return ops;
}

std::vector<OpId> Values::stream_arrived(int32_t copy) {
  std::vector<Streams::Served> served;
  {
    const MutexLock hold(streams_lock_);
    streams_->arrive(copies_[copy].value, copies_[copy].memory, served);
  }
  std::vector<OpId> ops;
  for (const Streams::Served& one : served) ops.push_back(one.op);
  return ops;
}

std::vector<OpId> Values::release_streams(OpId op) {
  {
    const MutexLock hold(streams_lock_);
    std::vector<Streams::Copy> dropped;
    streams_->finish(op, &dropped);
    for (const Streams::Copy& one : dropped) {
      Copy& copy = copies_[copies_.find(one.weight, one.to)];
      if (copy.address != nullptr) pool(copy.memory).release(copy.address, copy.bytes);
      copy.address = nullptr;
    }
  }
  return send_streams();
}

}  // namespace tutti
