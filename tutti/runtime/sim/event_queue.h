// The events of a simulated run by time, and by the order they were queued where times tie: a heap
// of four children per parent, which fits the cache better than two.

#ifndef TUTTI_RUNTIME_SIM_EVENT_QUEUE_H_
#define TUTTI_RUNTIME_SIM_EVENT_QUEUE_H_

#include <cstdint>
#include <vector>

#include "tutti/base/time.h"

namespace tutti {

enum class EventKind : uint32_t { op_done, hop_done, flow_joins };

struct Event {
  int64_t time;
  uint64_t turn;
  EventKind kind;
  int32_t index;  // op or transfer
  friend bool operator<(const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.turn < b.turn;
  }
};

class EventQueue {
 public:
  void clear() {
    events_.clear();
    turn_ = 0;
  }
  bool empty() const { return events_.empty(); }

  // When the first is due; kNever if there is none.
  Duration next() const { return events_.empty() ? kNever : Duration(events_.front().time); }

  void push(Duration time, EventKind kind, int32_t index) {
    const Event event{.time = time.count(), .turn = turn_++, .kind = kind, .index = index};
    size_t hole = events_.size();
    events_.push_back(event);
    while (hole > 0) {
      const size_t parent = (hole - 1) / 4;
      if (!(event < events_[parent])) break;
      events_[hole] = events_[parent];
      hole = parent;
    }
    events_[hole] = event;
  }

  // Requires !empty().
  Event pop() {
    const Event first = events_.front();
    const Event last = events_.back();
    events_.pop_back();
    if (events_.empty()) return first;
    size_t hole = 0;
    for (;;) {
      const size_t begin = 4 * hole + 1;
      if (begin >= events_.size()) break;
      const size_t end = begin + 4 < events_.size() ? begin + 4 : events_.size();
      size_t least = begin;
      for (size_t child = begin + 1; child < end; ++child) {
        if (events_[child] < events_[least]) least = child;
      }
      if (!(events_[least] < last)) break;
      events_[hole] = events_[least];
      hole = least;
    }
    events_[hole] = last;
    return first;
  }

 private:
  std::vector<Event> events_;
  uint64_t turn_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_EVENT_QUEUE_H_
