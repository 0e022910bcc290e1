#include "tutti/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace tutti {

int usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(int count, int threads, const std::function<void(int index, int thread)>& body) {
  threads = std::min(threads, count);
  if (threads <= 1) {
    for (int index = 0; index < count; ++index) body(index, 0);
    return;
  }
  std::atomic<int> next{0};
  const auto take_turns = [&](int thread) {
    for (int index = next++; index < count; index = next++) body(index, thread);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(take_turns, thread);
  take_turns(0);
  for (std::thread& other : others) other.join();
}

}  // namespace tutti
