#include "tutti/runtime/local/jobs/job_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

JobValues::JobValues(const Job& job, Memories& memories, std::shared_ptr<JobInputs> inputs,
                     const std::vector<ValueId>& keep)
    : job_(job),
      graph_(job.graph()),
      memories_(memories),
      inputs_(std::move(inputs)),
      memory_count_(job.problem().machine.memory_count()) {
  if (inputs_ == nullptr) return;
  const auto values = static_cast<size_t>(graph_.value_count());
  copy_count_ = graph_.value_count() * memory_count_;
  copies_ = std::make_unique<Copy[]>(static_cast<size_t>(copy_count_));
  unstarted_ = std::make_unique<std::atomic<int32_t>[]>(values);
  home_.resize(values);
  bytes_.resize(values);
  stays_.resize(values);
  kept_.resize(values);
  for (const ValueId value : graph_.values()) {
    const auto i = static_cast<size_t>(value.index);
    bytes_[i] = graph_.bytes(value);
    const auto readers = static_cast<int32_t>(graph_.consumers(value).size());
    unstarted_[i].store(readers, std::memory_order_relaxed);
    if (is_input(value)) home_[i] = job.problem().home(value);
    kept_[i] = keep.empty() && readers == 0 && !is_input(value);
    stays_[i] = kept_[i] != 0 || (is_input(value) && graph_.is_weight(value));
  }
  for (const ValueId value : keep)
    kept_[static_cast<size_t>(value.index)] = stays_[static_cast<size_t>(value.index)] = 1;
}

Result<void> JobValues::lend(ValueId value, MemoryId memory) {
  Copy& copy = copies_[at(value, memory)];
  if (copy.state == Copy::State::present) return {};
  if (graph_.bytes(value) > 0) {
    Result<void*> block = inputs_->bring(value, memory);
    if (!block) return block.error();
    copy.address = *block;
    copy.counted = true;
    memories_.pool(memory).take_room_anyway(graph_.bytes(value));
  }
  copy.state = Copy::State::present;
  copy.lent = true;
  copy.held = true;
  copy.uses.fetch_add(1);
  if (memories_.left(memory) >= 0) return {};
  return infeasible(fmt::format(
      "the graph inputs that the ops in memory '{}' read take {} bytes more than its {}; allow "
      "more memory or spread the ops",
      job_.problem().machine.memory(memory).name, -memories_.left(memory),
      bytes_to_text(memories_.pool(memory).limit())));
}

Result<bool> JobValues::place(OpEntry& entry, std::vector<Wanted>& wanted) {
  if (inputs_ == nullptr) return true;
  const MemoryId to = entry.memory;
  for (const ValueId value : graph_.outputs(entry.op)) home_[static_cast<size_t>(value.index)] = to;
  // Inputs first: that may fail, and takes longer than a lock should be held.
  for (const ValueId value : graph_.operands(entry.op)) {
    if (!is_input(value)) continue;
    const MemoryId home = home_[static_cast<size_t>(value.index)];
    if (Result<void> lent = lend(value, home.valid() ? home : to); !lent) return lent.error();
  }
  entry.copies.clear();
  int32_t absent = 0;
  const SpinHold hold(lock_);
  for (const ValueId value : graph_.operands(entry.op)) {
    const int32_t index = at(value, to);
    Copy& copy = copies_[index];
    copy.uses.fetch_add(1);
    entry.copies.push_back(index);
    if (copy.state == Copy::State::present) continue;
    if (copy.state == Copy::State::absent) {
      const MemoryId from = home_[static_cast<size_t>(value.index)];
      copies_[at(value, from)].uses.fetch_add(1);  // until it has arrived
      copy.state = Copy::State::on_its_way;
      copy.held = true;
      copy.counted = true;
      copy.uses.fetch_add(2);
      wanted.push_back({value, from, to});
    }
    waiters_.push_back({&entry, entry.given, index});
    ++absent;
  }
  entry.absent.store(absent, std::memory_order_relaxed);
  if (absent > 0) entry.state.store(OpEntry::State::fetching, std::memory_order_relaxed);
  return absent == 0;
}

bool JobValues::take_back_fetching(OpEntry& entry) {
  const SpinHold hold(lock_);
  if (entry.state.load(std::memory_order_relaxed) != OpEntry::State::fetching) return false;
  entry.state.store(OpEntry::State::free, std::memory_order_relaxed);
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.entry == &entry; });
  return true;
}

void JobValues::let_go(const OpEntry& entry) {
  for (const int32_t copy : entry.copies) drop(copy);
}

void JobValues::arrived(ValueId value, MemoryId from, MemoryId to,
                        std::vector<OpEntry*>& complete) {
  const int32_t index = at(value, to);
  {
    const SpinHold hold(lock_);
    copies_[index].state = Copy::State::present;
    std::erase_if(waiters_, [&](const Waiter& waiter) {
      if (waiter.copy != index) return false;
      OpEntry& entry = *waiter.entry;
      if (entry.absent.fetch_sub(1) == 1) {
        entry.state.store(OpEntry::State::queued, std::memory_order_relaxed);
        complete.push_back(&entry);
      }
      return true;
    });
  }
  drop(index);
  drop(at(value, from));
}

bool JobValues::make_outputs(const OpEntry& entry) {
  if (inputs_ == nullptr) return true;
  for (const ValueId value : graph_.outputs(entry.op)) {
    Copy& copy = copies_[at(value, entry.memory)];
    copy.held = true;
    copy.counted = graph_.bytes(value) > 0;
    copy.uses.fetch_add(1);
  }
  for (const ValueId value : graph_.outputs(entry.op)) {
    if (graph_.bytes(value) == 0) continue;
    void* const block = memories_.pool(entry.memory).allocate(graph_.bytes(value));
    if (block == nullptr) return false;
    copies_[at(value, entry.memory)].address = block;
  }
  return true;
}

void JobValues::gather(const OpEntry& entry, std::vector<ConstBlock>& operands,
                       std::vector<Block>& outputs) const {
  operands.clear();
  outputs.clear();
  size_t i = 0;
  for (const ValueId value : graph_.operands(entry.op)) {
    const void* address = inputs_ == nullptr ? nullptr : copies_[entry.copies[i++]].address;
    operands.emplace_back(graph_.shape(value), graph_.dtype(value), address);
  }
  for (const ValueId value : graph_.outputs(entry.op)) {
    void* address = inputs_ == nullptr ? nullptr : copies_[at(value, entry.memory)].address;
    outputs.push_back({graph_.shape(value), graph_.dtype(value), address});
  }
}

// The last reader of a value has started: no other will need a copy anywhere.
void JobValues::started(const OpEntry& entry) {
  if (inputs_ == nullptr) return;
  for (const ValueId value : graph_.operands(entry.op)) {
    const auto i = static_cast<size_t>(value.index);
    if (unstarted_[i].fetch_sub(1) > 1 || stays_[i] != 0) continue;
    for (int32_t m = 0; m < memory_count_; ++m) {
      Copy& copy = copies_[at(value, MemoryId{m})];
      bool held = false;
      {
        const SpinHold hold(lock_);
        std::swap(held, copy.held);
      }
      if (held) drop(at(value, MemoryId{m}));
    }
  }
}

void JobValues::finished(const OpEntry& entry) {
  if (inputs_ == nullptr) return;
  let_go(entry);
  const int64_t transient = graph_.transient_bytes(entry.op);
  if (transient > 0) memories_.give_room(entry.memory, transient);
  const SpinHold hold(lock_);
  for (const ValueId value : graph_.outputs(entry.op))
    copies_[at(value, entry.memory)].state = Copy::State::present;
}

void JobValues::drop(int32_t index) {
  Copy& copy = copies_[index];
  if (copy.uses.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  const int64_t bytes = bytes_[static_cast<size_t>(value_of(index).index)];
  void* const address = std::exchange(copy.address, nullptr);
  if (address != nullptr && !copy.lent) memories_.pool(memory_of(index)).release(address, bytes);
  if (std::exchange(copy.counted, false)) memories_.give_room(memory_of(index), bytes);
}

void JobValues::release(bool but_results) {
  for (int32_t i = 0; i < copy_count_; ++i) {
    if (but_results && kept_[static_cast<size_t>(value_of(i).index)] != 0) continue;
    Copy& copy = copies_[i];
    const int64_t bytes = bytes_[static_cast<size_t>(value_of(i).index)];
    void* const address = std::exchange(copy.address, nullptr);
    if (address != nullptr && !copy.lent) memories_.pool(memory_of(i)).release(address, bytes);
    if (std::exchange(copy.counted, false)) memories_.give_room(memory_of(i), bytes);
  }
}

Result<std::vector<std::byte>> JobValues::result(ValueId value) const {
  if (inputs_ == nullptr) return std::vector<std::byte>();
  if (!value.valid() || value.index >= std::ssize(bytes_) ||
      kept_[static_cast<size_t>(value.index)] == 0) {
    return invalid_input(
        fmt::format("value {} was not kept by the last run; name it in keep", value.index));
  }
  std::vector<std::byte> bytes(static_cast<size_t>(bytes_[static_cast<size_t>(value.index)]));
  if (bytes.empty()) return bytes;
  const MemoryId home = home_[static_cast<size_t>(value.index)];
  void* const address = home.valid() ? copies_[at(value, home)].address : nullptr;
  if (address == nullptr) return failed("the last run failed, so that there is no result");
  const Result<void> read = memories_.pool(home).store().read(
      bytes.data(), address, bytes_[static_cast<size_t>(value.index)]);
  if (!read) return read.error();
  return bytes;
}

}  // namespace tutti
