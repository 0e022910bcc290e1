#include "bench/real_watch.h"

#include <algorithm>
#include <ctime>
#include <thread>

#include "tutti/base/statistics.h"
#include "tutti/belief/belief.h"
#include "tutti/telemetry/available.h"
#include "tutti/telemetry/sampler.h"

namespace tutti {
namespace {

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A fixed amount of products and streams on every core.
Spent work_on_all(std::vector<std::vector<float>>& memory) {
  const double begin = seconds_now();
  std::vector<double> spent(memory.size(), 0.0);
  std::vector<std::thread> team;
  for (size_t t = 0; t < memory.size(); ++t) {
    team.emplace_back([&, t] {
      for (int pass = 0; pass < 24; ++pass) {
        float factor = 1.0F;
        for (float& x : memory[t]) {
          factor = factor * 0.999F + 0.001F;
          x = x * factor + 0.5F;
        }
      }
      spent[t] = thread_seconds();
    });
  }
  for (std::thread& one : team) one.join();
  return {seconds_now() - begin, mean_of(spent)};
}

}  // namespace

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void pause(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : summary_of(values).mean;
}

double median_of(const std::vector<double>& values) {
  return values.empty() ? 0 : summary_of(values).median;
}

std::string shown(const std::vector<double>& samples, int digits) {
  if (samples.empty()) return "-";
  const Summary summary = summary_of(samples);
  return fmt::format("{:.{}f} ± {:.{}f}", summary.mean, digits, summary.half_interval, digits);
}

std::vector<std::unique_ptr<CounterSource>> all_sources(const Machine& machine) {
  std::vector<std::unique_ptr<CounterSource>> sources;
  for (AvailableSource& item : available_sources(machine)) {
    if (item.source != nullptr) sources.push_back(std::move(item.source));
  }
  return sources;
}

// The truth is ours alone: what others do on the host is in no sum.
void warn_of_others(const Machine& machine) {
  Sampler sampler(all_sources(machine));
  std::vector<double> busy;
  pause(0.5);
  sampler.sample();
  const std::vector<CounterReading> readings = sampler.take();
  for (size_t c = 0; c < readings.size(); ++c) {
    if (sampler.counters()[c].resource.kind == Resource::Kind::core && readings[c].count > 0)
      busy.push_back(readings[c].mean);
  }
  fmt::print("before the load begins cores are {:.0f} % busy{}\n", 100 * mean_of(busy),
             mean_of(busy) > 0.1 ? ": figures tell little beside the work of others" : "");
}

Spent watch_host(const Machine& machine, const std::atomic<bool>& stop) {
  Sampler sampler(all_sources(machine));
  const Belief belief(machine, sampler.counters());
  const std::vector<double> constants = belief.network().start();
  const Spent before{seconds_now(), thread_seconds()};
  for (int reading = 1; !stop; ++reading) {
    std::this_thread::sleep_for(kBetweenReadings);
    sampler.sample();
    if (reading % kReadings != 0) continue;
    belief.infer(constants, {.readings = sampler.take()}, {.seed = static_cast<uint64_t>(reading)});
  }
  return {seconds_now() - before.wall, thread_seconds() - before.processor};
}

void show_overhead(const Machine& machine, double seconds) {
  const double begin = seconds_now();
  warn_of_others(machine);
  std::vector<std::vector<float>> memory(std::max(1U, std::thread::hardware_concurrency()),
                                         std::vector<float>(size_t{4} << 20, 1.0F));
  work_on_all(memory);
  Spent watcher;
  // Both begin after a rest: cores that have just worked are quicker than those that have slept.
  constexpr double kUntilCountersAreFound = 0.3;
  const auto alone = [&] {
    pause(kUntilCountersAreFound);
    return work_on_all(memory);
  };
  const auto beside = [&] {
    std::atomic<bool> stop{false};
    Spent own;
    std::thread thread([&] { own = watch_host(machine, stop); });
    pause(kUntilCountersAreFound);
    const Spent run = work_on_all(memory);
    stop = true;
    thread.join();
    watcher.wall += own.wall;
    watcher.processor += own.processor;
    return run;
  };
  std::vector<double> wall;
  std::vector<double> processor;
  for (double longest = 0; wall.size() < 100 && seconds_now() + longest - begin < seconds;) {
    const double from = seconds_now();
    const bool first = wall.size() % 2 == 0;  // whatever drifts falls on both
    const Spent one = first ? alone() : beside();
    const Spent other = first ? beside() : alone();
    wall.push_back(first ? other.wall / one.wall : one.wall / other.wall);
    processor.push_back(first ? other.processor / one.processor : one.processor / other.processor);
    longest = std::max(longest, seconds_now() - from);
  }
  fmt::print(
      "a run on {} cores beside readings every {} ms and an update every {} readings, over the run "
      "alone, {} pairs:\n  time {}, median {:.4f}; its own processor time {}, median {:.4f}\n",
      memory.size(), kBetweenReadings.count(), kReadings, wall.size(), shown(wall, 4),
      median_of(wall), shown(processor, 4), median_of(processor));
  const double share = watcher.processor / watcher.wall;
  fmt::print("the watcher's own time: {:.2f} % of one core, {:.3f} % of all\n", 100 * share,
             100 * share / static_cast<double>(memory.size()));
}

}  // namespace tutti
