// parallel_for runs independent pieces of work on several threads. Results go to slots indexed by
// the piece, so that what comes out does not depend on the number of threads.

#ifndef TUTTI_BASE_PARALLEL_H_
#define TUTTI_BASE_PARALLEL_H_

#include <functional>

namespace tutti {

// The cores this process may use (its CPU affinity mask), at least 1.
int usable_cores();

// Calls body(index, thread) once for each index in [0, count), from `threads` threads, and returns
// when all are done. `thread` is in [0, threads) and selects the workspace of the calling thread.
// With one thread the calls happen in order on the calling thread. The body must not throw.
void parallel_for(int count, int threads, const std::function<void(int index, int thread)>& body);

}  // namespace tutti

#endif  // TUTTI_BASE_PARALLEL_H_
