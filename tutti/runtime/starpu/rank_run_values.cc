// The values of a rank's run: where their bytes are, what waits for them, and when they are freed.

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

#include "tutti/runtime/starpu/rank_run.h"

namespace tutti {
namespace {

constexpr size_t kAlignment = 64;  // as kernels expect

}  // namespace

RankRun::Copy& RankRun::add_copy(ValueId value, MemoryId memory, Copy* source) {
  Copy& made = copies_.emplace_back();
  made.index = static_cast<int32_t>(copies_.size()) - 1;
  made.value = value;
  made.memory = memory;
  made.source = source;
  made.next = first_copy_[static_cast<size_t>(value.index)];
  made.here = place_.layout.rank_of(memory) == place_.ranks.rank();
  first_copy_[static_cast<size_t>(value.index)] = &made;
  return made;
}

RankRun::Copy* RankRun::find_copy(ValueId value, MemoryId memory) const {
  Copy* copy = first_copy_[static_cast<size_t>(value.index)];
  while (copy != nullptr && copy->memory != memory) copy = copy->next;
  return copy;
}

bool RankRun::is_result(const Copy& copy) const {
  return copy.source == nullptr && graph_.producer(copy.value).valid() &&
         graph_.consumers(copy.value).empty();
}

// A graph's input that is given here.
void RankRun::provide_input(Copy& copy) {
  std::vector<std::byte>& block = place_.inputs[{copy.value, copy.memory}];
  const size_t bytes = std::max<size_t>(1, bytes_of(copy));
  if (block.size() != bytes) {
    block.assign(bytes, std::byte{0});
    if (place_.options.input && graph_.bytes(copy.value) > 0) {
      place_.options.input(copy.value,
                           {graph_.shape(copy.value), graph_.dtype(copy.value), block.data()});
    }
  }
  copy.kept = true;
  copy.bytes = block.data();
}

void RankRun::make_room(Copy& copy) const {
  const size_t bytes = std::max<size_t>(1, bytes_of(copy));
  const size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  copy.bytes = static_cast<std::byte*>(std::aligned_alloc(kAlignment, whole));
  if (copy.bytes == nullptr) throw std::bad_alloc();
}

// Its readers here wait for one copy less, and other ranks are sent what they read of it.
void RankRun::arrive(Copy& copy, std::vector<Task*>& ready) {
  copy.there = true;
  for (Task* reader : copy.readers) {
    if (reader->missing.fetch_sub(1) == 1) ready.push_back(reader);
  }
  if (!place_.ranks.several()) return;
  const Copy* to = first_copy_[static_cast<size_t>(copy.value.index)];
  for (; to != nullptr; to = to->next) {
    if (to->source == &copy && !to->here) send(*to);
  }
}

void RankRun::send(const Copy& to) {
  place_.messages->send({.to = place_.layout.rank_of(to.memory),
                         .tag = to.index,
                         .priority = urgency(to),
                         .bytes = {to.source->bytes, bytes_of(to)}});
}

// That of its most urgent reader.
int64_t RankRun::urgency(const Copy& copy) const {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const EdgeId edge : graph_.consumers(copy.value)) {
    const auto reader = static_cast<size_t>(graph_.edge_to(edge).index);
    if (place_.machine.memory_of(plan_->placement[reader]) != copy.memory) continue;
    least = std::min(least, plan_->priority[reader]);
  }
  return least;
}

void RankRun::used(Copy& copy) const {
  if (copy.uses.fetch_sub(1) != 1 || copy.kept || is_result(copy)) return;
  std::free(copy.bytes);
  copy.bytes = nullptr;
}

// Messages::Peer, called by the thread that talks to MPI.

std::span<std::byte> RankRun::room(int32_t tag) {
  Copy& copy = copies_[static_cast<size_t>(tag)];
  make_room(copy);
  return {copy.bytes, bytes_of(copy)};
}

void RankRun::received(int32_t tag) {
  Copy& copy = copies_[static_cast<size_t>(tag)];
  copy.finish = place_.ranks.now();
  place_.ranks.pulse().events.fetch_add(1);
  std::vector<Task*> ready;
  arrive(copy, ready);
  submit_all(ready);
}

void RankRun::sent(int32_t tag, Duration began) {
  Copy& copy = copies_[static_cast<size_t>(tag)];
  copy.start = began;
  place_.ranks.pulse().events.fetch_add(1);
  used(*copy.source);
}

std::map<ValueId, std::vector<std::byte>> RankRun::take_results() {
  std::map<ValueId, std::vector<std::byte>> results;
  for (const Copy& one : copies_) {
    if (!one.here || one.bytes == nullptr || !is_result(one)) continue;
    results.emplace(one.value, std::vector<std::byte>(one.bytes, one.bytes + bytes_of(one)));
  }
  return results;
}

}  // namespace tutti
