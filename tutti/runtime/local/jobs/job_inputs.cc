#include "tutti/runtime/local/jobs/job_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti {
namespace {

// Where an input is filled.
MemoryId first_memory(const Job& job, ValueId value) {
  const MemoryId home = job.problem().home(value);
  return home.valid() ? home : job.problem().machine.host_memory();
}

}  // namespace

JobInputs::JobInputs(std::shared_ptr<const Job> job, Memories& memories)
    : job_(std::move(job)),
      memories_(memories),
      memories_count_(static_cast<size_t>(job_->problem().machine.memory_count())),
      blocks_(static_cast<size_t>(job_->graph().value_count()) * memories_count_, nullptr) {
  for (const ValueId value : job_->graph().values()) bytes_.push_back(job_->graph().bytes(value));
}

JobInputs::~JobInputs() {
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i] == nullptr) continue;
    const MemoryId memory{static_cast<int32_t>(i % memories_count_)};
    memories_.pool(memory).release(blocks_[i], bytes_[i / memories_count_]);
  }
}

Result<std::shared_ptr<JobInputs>> JobInputs::make(std::shared_ptr<const Job> job,
                                                   Memories& memories, const FillInput& fill,
                                                   bool everywhere) {
  std::shared_ptr<JobInputs> inputs(new JobInputs(std::move(job), memories));
  const Graph& graph = inputs->job_->graph();
  const Machine& machine = inputs->job_->problem().machine;
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid() || graph.consumers(value).empty()) continue;
    if (graph.bytes(value) == 0) continue;
    const MemoryId first = first_memory(*inputs->job_, value);
    if (Result<void> filled = inputs->fill(value, first, fill); !filled) return filled.error();
    if (!everywhere || inputs->job_->problem().home(value).valid()) continue;
    for (const DeviceId device : machine.devices()) {
      const Result<void*> brought = inputs->bring(value, machine.memory_of(device));
      if (!brought) return brought.error();
    }
  }
  return inputs;
}

Result<void*> JobInputs::allocate(ValueId value, MemoryId memory) {
  const int64_t bytes = job_->graph().bytes(value);
  void* const block = memories_.pool(memory).allocate(bytes);
  if (block == nullptr) {
    return infeasible(fmt::format(
        "graph input '{}' needs {} bytes in memory '{}', which cannot provide them; allow more "
        "memory",
        job_->graph().value_name(value), bytes, job_->problem().machine.memory(memory).name));
  }
  blocks_[static_cast<size_t>(value.index) * memories_count_ + static_cast<size_t>(memory.index)] =
      block;
  return block;
}

Result<void> JobInputs::fill(ValueId value, MemoryId memory, const FillInput& fill) {
  const Graph& graph = job_->graph();
  const Result<void*> block = allocate(value, memory);
  if (!block) return block.error();
  const auto bytes = static_cast<size_t>(graph.bytes(value));
  Store& store = memories_.pool(memory).store();
  if (store.ordinary()) {
    std::memset(*block, 0, bytes);
    if (fill) fill(value, {graph.shape(value), graph.dtype(value), *block});
    return {};
  }
  std::vector<std::byte> buffer(bytes);
  if (fill) fill(value, {graph.shape(value), graph.dtype(value), buffer.data()});
  return store.write(*block, buffer.data(), graph.bytes(value));
}

Result<void*> JobInputs::bring(ValueId value, MemoryId memory) {
  if (void* const there = find(value, memory)) return there;
  const Graph& graph = job_->graph();
  const MemoryId first = first_memory(*job_, value);
  const Result<void*> block = allocate(value, memory);
  if (!block) return block.error();
  const void* source = find(value, first);
  std::vector<std::byte> buffer;
  if (!memories_.pool(first).store().ordinary()) {
    buffer.resize(static_cast<size_t>(graph.bytes(value)));
    const Result<void> read =
        memories_.pool(first).store().read(buffer.data(), source, graph.bytes(value));
    if (!read) return read.error();
    source = buffer.data();
  }
  const Result<void> written =
      memories_.pool(memory).store().write(*block, source, graph.bytes(value));
  if (!written) return written.error();
  return *block;
}

}  // namespace tutti
