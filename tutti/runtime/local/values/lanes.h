// The threads that move values: one for each pair of memories that a hop joins, started before the
// first run that may need it and kept. A lane takes part in a run only while it has something to
// move, one value after another in the order in which they were sent.

#ifndef TUTTI_RUNTIME_LOCAL_VALUES_LANES_H_
#define TUTTI_RUNTIME_LOCAL_VALUES_LANES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tutti/runtime/local/dispatch/crew.h"
#include "tutti/runtime/local/dispatch/kept_thread.h"
#include "tutti/runtime/local/dispatch/lock.h"
#include "tutti/runtime/local/hardware.h"

namespace tutti {

class Lanes {
 public:
  // Moves one item; called on the lane's thread, whose copier it is given.
  using Move = std::function<void(Copier& copier, int32_t item)>;

  // Keeps references.
  Lanes(Hardware& hardware, Crew& crew) : hardware_(hardware), crew_(crew) {}

  // A run begins. What an earlier one left undone is forgotten.
  void begin(Move move);

  // True if the hardware has a way from one to the other. The lane's thread is started by the first
  // caller: not a slot's, which keeps to a core, as would then all that goes this way.
  bool join(MemoryId from, MemoryId to);

  // Requires that they are joined, and that the calling thread takes part in the run.
  void send(MemoryId from, MemoryId to, int32_t item);

 private:
  struct Lane {
    std::unique_ptr<Copier> copier;
    bool entered = false;
    SpinLock lock;
    std::deque<int32_t> items GUARDED_BY(lock);
    bool active GUARDED_BY(lock) = false;
    std::unique_ptr<KeptThread> thread GUARDED_BY(lock);  // last: it uses the others
  };

  Lane* find(MemoryId from, MemoryId to);
  void serve(Lane& lane);

  Hardware& hardware_;
  Crew& crew_;
  Move move_;
  Mutex mutex_;
  std::map<std::pair<MemoryId, MemoryId>, std::unique_ptr<Lane>> lanes_ GUARDED_BY(mutex_);
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_VALUES_LANES_H_
