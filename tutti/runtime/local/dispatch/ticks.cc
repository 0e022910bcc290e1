#include "tutti/runtime/local/dispatch/ticks.h"

#include <fstream>
#include <string>

namespace tutti {
namespace {

bool kernel_trusts_the_counter() {
#if defined(__x86_64__)
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return static_cast<bool>(file >> source) && source == "tsc";
#else
  return false;
#endif
}

}  // namespace

TickClock::TickClock() : counter_(kernel_trusts_the_counter()) {
  if (!counter_) return;
  first_ns_ = steady_now();
  first_tick_ = now();
  // A first guess; calibrate() knows better later.
  while (steady_now() - first_ns_ < 100'000) {
  }
  calibrate();
}

void TickClock::calibrate() {
  if (!counter_) return;
  const int64_t ns = steady_now();
  const int64_t tick = now();
  ns_per_tick_ = static_cast<double>(ns - first_ns_) / static_cast<double>(tick - first_tick_);
}

}  // namespace tutti
