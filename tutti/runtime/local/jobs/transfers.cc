#include "tutti/runtime/local/jobs/transfers.h"

#include <fmt/format.h>

#include <utility>

namespace tutti {

Transfers::Transfers(const Machine& machine, Hardware& hardware, Memories& memories,
                     const TickClock& clock, const JobEngineOptions& options, Listener listener)
    : machine_(machine),
      memories_(memories),
      clock_(clock),
      options_(options),
      listener_(std::move(listener)),
      lanes_(hardware, crew_) {
  crew_.begin(
      1, [] { return false; }, [] {});
  lanes_.begin([this](Copier& copier, int32_t index) { move(copier, index); });
}

Transfers::Transfer& Transfers::get(int32_t index) {
  const SpinHold hold(lock_);
  return all_[static_cast<size_t>(index)];
}

Result<bool> Transfers::check_way(MemoryId from, MemoryId to) {
  const auto none = [&](MemoryId begin, MemoryId end) {
    return infeasible(fmt::format("nothing connects memory '{}' to '{}'",
                                  machine_.memory(begin).name, machine_.memory(end).name));
  };
  const Route* route = machine_.route(from, to);
  if (route == nullptr) return none(from, to);
  if (!options_.staged && lanes_.join(from, to)) return true;
  for (const Hop& hop : route->hops) {
    if (!lanes_.join(from, hop.to)) return none(from, hop.to);
    from = hop.to;
  }
  return route->hops.size() == 1;
}

Result<void> Transfers::request(JobRun& job, const JobValues::Wanted& wanted) {
  const Result<bool> direct = check_way(wanted.from, wanted.to);
  if (!direct) return direct.error();
  int32_t index = 0;
  {
    const SpinHold hold(lock_);
    if (free_.empty()) {
      free_.push_back(static_cast<int32_t>(all_.size()));
      all_.emplace_back();
    }
    index = free_.back();
    free_.pop_back();
    all_[static_cast<size_t>(index)] = {
        .job = &job, .what = wanted, .direct = *direct, .at = wanted.from};
  }
  const int64_t bytes = job.job()->graph().bytes(wanted.value);
  if (memories_.take_room(wanted.to, bytes, index)) start(index);
  return {};
}

void Transfers::start(int32_t index) {
  Transfer& transfer = get(index);
  const auto& [value, from, to] = transfer.what;
  const int64_t bytes = transfer.job->job()->graph().bytes(value);
  if (bytes > 0) {
    void* const block = memories_.pool(to).allocate(bytes);
    transfer.job->values.set_address(value, to, block);
    if (block == nullptr) {
      transfer.job->fail(infeasible(fmt::format(
          "a copy of value '{}' needs {} bytes in memory '{}', which cannot provide them; allow "
          "more memory or place fewer ops there",
          transfer.job->job()->graph().value_name(value), bytes, machine_.memory(to).name)));
      return end(index, transfer);
    }
  }
  lanes_.send(from, next_stop(transfer), index);
}

void Transfers::give_up(JobRun& job) {
  const auto is_its = [&](int32_t index) { return get(index).job == &job; };
  for (const int32_t index : memories_.forget_transfers(is_its)) {
    Transfer& transfer = get(index);
    job.values.without_room(transfer.what.value, transfer.what.to);
    end(index, transfer);
  }
}

JobRun* Transfers::waiting_job() {
  JobRun* found = nullptr;
  memories_.forget_transfers([&](int32_t index) {
    found = get(index).job;
    return false;
  });
  return found;
}

MemoryId Transfers::next_stop(const Transfer& transfer) const {
  const auto& [value, from, to] = transfer.what;
  if (transfer.direct) return to;
  return machine_.route(from, to)->hops[static_cast<size_t>(transfer.hop)].to;
}

// One hop, on the thread of its lane.
void Transfers::move(Copier& copier, int32_t index) {
  Transfer& transfer = get(index);
  JobRun& job = *transfer.job;
  const MemoryId stop = next_stop(transfer);
  const int64_t begun = clock_.now();
  if (Result<void> moved = hop(copier, transfer, stop); !moved) {
    job.fail(moved.error());
    return end(index, transfer);
  }
  job.values.add_span({.value = transfer.what.value,
                       .from = transfer.what.from,
                       .to = transfer.what.to,
                       .hop = transfer.hop,
                       .start = Duration(begun),
                       .finish = Duration(clock_.now())});
  ++transfer.hop;
  if (stop == transfer.what.to) return end(index, transfer);
  lanes_.send(stop, next_stop(transfer), index);
}

Result<void> Transfers::hop(Copier& copier, Transfer& transfer, MemoryId stop) {
  const Graph& graph = transfer.job->job()->graph();
  const auto& [value, source, end] = transfer.what;
  const int64_t bytes = graph.bytes(value);
  void* const from =
      transfer.staging != nullptr ? transfer.staging : transfer.job->values.address(value, source);
  void* to = transfer.job->values.address(value, end);
  if (stop != end && bytes > 0) {
    to = memories_.pool(stop).allocate(bytes);
    if (to == nullptr) {
      return infeasible(fmt::format(
          "value '{}' on its way to memory '{}' needs {} bytes in memory '{}', which cannot "
          "provide them; allow more memory or place fewer ops there",
          graph.value_name(value), machine_.memory(end).name, bytes, machine_.memory(stop).name));
    }
  }
  Result<void> done = copier.copy(to, from, bytes);
  if (transfer.staging != nullptr) memories_.pool(transfer.at).release(transfer.staging, bytes);
  transfer.staging = stop == end ? nullptr : to;
  const MemoryId left = std::exchange(transfer.at, stop);
  if (done) return {};
  return failed(fmt::format("value '{}' on its way from memory '{}' to '{}': {}",
                            graph.value_name(value), machine_.memory(left).name,
                            machine_.memory(stop).name, done.error().message));
}

void Transfers::end(int32_t index, Transfer& transfer) {
  JobRun& job = *transfer.job;
  const auto [value, from, to] = transfer.what;
  if (transfer.staging != nullptr) {
    memories_.pool(transfer.at).release(transfer.staging, job.job()->graph().bytes(value));
  }
  {
    const SpinHold hold(lock_);
    free_.push_back(index);
  }
  std::vector<OpEntry*> complete;
  // Of a job that has failed, too: its ops leave the queue without running.
  job.values.arrived(value, from, to, complete);
  for (OpEntry* entry : complete) listener_.queue(*entry);
  listener_.ended(job, value, to);  // the job may be gone after this
}

}  // namespace tutti
