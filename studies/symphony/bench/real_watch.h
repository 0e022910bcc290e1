// Watching this host as a scheduler would, all counters at the default interval and a belief from
// them, and what that costs a run on the same host; with what the parts of
// studies/symphony/bench/real_belief.cc share.

#ifndef TUTTI_STUDIES_SYMPHONY_BENCH_REAL_WATCH_H_
#define TUTTI_STUDIES_SYMPHONY_BENCH_REAL_WATCH_H_

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/telemetry/source.h"

namespace tutti {

inline constexpr int kReadings = 8;  // between two updates of the belief
// As `tutti telemetry` has it.
inline constexpr auto kBetweenReadings = std::chrono::milliseconds(20);

template <class T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "real_belief: {}\n", result.error().message);
  std::exit(2);
}

double seconds_now();
void pause(double seconds);
// 0 without values.
double mean_of(const std::vector<double>& values);
double median_of(const std::vector<double>& values);
// "0.123 ± 0.004": mean and 95 % interval.
std::string shown(const std::vector<double>& samples, int digits = 3);

// Every source that this host has.
std::vector<std::unique_ptr<CounterSource>> all_sources(const Machine& machine);

// Says how busy the host is before anything of ours runs on it.
void warn_of_others(const Machine& machine);

// Time in seconds.
struct Spent {
  double wall = 0;
  double processor = 0;
};

// Reads and updates until it is told to stop.
Spent watch_host(const Machine& machine, const std::atomic<bool>& stop);

// What readings and updates take, then a run on all cores without and with watch_host, in turns,
// for about so long.
void show_overhead(const Machine& machine, double seconds);

}  // namespace tutti

#endif  // TUTTI_STUDIES_SYMPHONY_BENCH_REAL_WATCH_H_
