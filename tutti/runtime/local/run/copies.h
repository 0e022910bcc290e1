// Where the values of a run are: for each value its copies, one for each memory that has or needs
// it, with their addresses and how many still use them. The first copy of a value is where it is
// made, or where a graph input is at home.
//
// The Run decides which thread may use it when: addresses change only while no reader can look.

#ifndef TUTTI_RUNTIME_LOCAL_RUN_COPIES_H_
#define TUTTI_RUNTIME_LOCAL_RUN_COPIES_H_

#include <atomic>
#include <cstdint>

#include "tutti/base/id.h"
#include "tutti/runtime/local/run/context.h"

namespace tutti {

struct Copy {
  void* address = nullptr;
  int64_t bytes = 0;
  // Readers and transfers that need it, and other holders; at 0 it is released.
  std::atomic<int32_t> uses{0};
  MemoryId memory{};
  int32_t next = -1;  // a further copy of the same value
  ValueId value{};
  bool counted = false;  // in the books of its memory
  bool lent = false;     // the address is a kept input's, and not to be given back

  void reset(ValueId of, int64_t size, MemoryId where) {
    address = nullptr;
    bytes = size;
    uses.store(0, std::memory_order_relaxed);
    memory = where;
    next = -1;
    value = of;
    counted = false;
    lent = false;
  }
};

// By id: the first copies, by value; then the further ones, in the order in which they were added.
class Copies {
 public:
  void begin(int32_t values, int32_t further) {
    values_ = values;
    count_ = values;
    all_.resize(static_cast<size_t>(values) + static_cast<size_t>(further));
  }
  // No run: nothing is anywhere.
  void end() { values_ = count_ = 0; }

  int32_t count() const { return count_; }
  int32_t values() const { return values_; }
  Copy& operator[](int32_t copy) { return all_[copy]; }
  const Copy& operator[](int32_t copy) const { return all_[copy]; }
  Copy& first(ValueId value) { return all_[value.index]; }
  const Copy& first(ValueId value) const { return all_[value.index]; }

  // The copy in that memory; -1 if there is none.
  int32_t find(ValueId value, MemoryId memory) const {
    int32_t copy = value.index;
    while (copy >= 0 && all_[copy].memory != memory) copy = all_[copy].next;
    return copy;
  }
  int32_t add(ValueId value, MemoryId memory) {
    const int32_t copy = count_++;
    all_[copy].reset(value, all_[value.index].bytes, memory);
    all_[copy].next = all_[value.index].next;
    all_[value.index].next = copy;
    return copy;
  }

 private:
  RunTable<Copy> all_;
  int32_t values_ = 0;
  int32_t count_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_RUN_COPIES_H_
