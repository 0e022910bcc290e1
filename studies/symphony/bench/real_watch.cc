#include "studies/symphony/bench/real_watch.h"

#include <algorithm>
#include <ctime>
#include <thread>

#include "tutti/base/statistics.h"
#include "tutti/belief/belief.h"
#include "tutti/telemetry/available.h"
#include "tutti/telemetry/sampler.h"

namespace tutti {
namespace {

constexpr int kWatchSamples = 64;  // as policies have it (SymphonyShape)

std::vector<std::unique_ptr<CounterSource>> one_of(std::unique_ptr<CounterSource> source) {
  std::vector<std::unique_ptr<CounterSource>> list;
  list.push_back(std::move(source));
  return list;
}

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// How a fixed amount of products and streams is divided among cores.
enum class Division : uint8_t {
  even,   // each core has its part, and the slowest decides: a thread that takes time from one core
          // takes it from all
  pieces  // a free core takes the next piece, as ops go to devices that are free
};

Spent work_on_all(std::vector<std::vector<float>>& memory, Division division) {
  constexpr int kPasses = 24;
  constexpr size_t kPieces = 16;  // of a pass over one core's memory
  const double begin = seconds_now();
  std::vector<double> spent(memory.size(), 0.0);
  std::atomic<size_t> next{0};
  const auto work = [](std::vector<float>& on, size_t first, size_t end) {
    float factor = 1.0F;
    for (size_t i = first; i < end; ++i) {
      factor = factor * 0.999F + 0.001F;
      on[i] = on[i] * factor + 0.5F;
    }
  };
  std::vector<std::thread> team;
  for (size_t t = 0; t < memory.size(); ++t) {
    team.emplace_back([&, t] {
      const size_t size = memory[t].size();
      if (division == Division::even) {
        for (int pass = 0; pass < kPasses; ++pass) work(memory[t], 0, size);
      } else {
        const size_t all = kPasses * kPieces * memory.size();
        for (size_t mine = next++; mine < all; mine = next++) {
          const size_t piece = mine / memory.size() % kPieces;
          work(memory[t], piece * size / kPieces, (piece + 1) * size / kPieces);
        }
      }
      spent[t] = thread_seconds();
    });
  }
  for (std::thread& one : team) one.join();
  return {seconds_now() - begin, mean_of(spent)};
}

// What one reading of each source takes, and one update.
void show_costs(const Machine& machine) {
  constexpr int kTimes = 40;
  for (AvailableSource& item : available_sources(machine)) {
    if (item.source == nullptr) continue;
    Sampler sampler(one_of(std::move(item.source)));
    const Spent before{seconds_now(), thread_seconds()};
    for (int i = 0; i < kTimes; ++i) sampler.sample();
    fmt::print("one reading of {}: {:.3f} ms of the processor's time, {:.3f} ms in all\n",
               item.name, 1e3 * (thread_seconds() - before.processor) / kTimes,
               1e3 * (seconds_now() - before.wall) / kTimes);
  }
  Sampler sampler(all_sources(machine));
  const Belief belief(machine, sampler.counters());
  const std::vector<double> constants = belief.network().start();
  for (int i = 0; i < kReadings; ++i) {
    std::this_thread::sleep_for(kBetweenReadings);
    sampler.sample();
  }
  const Observation seen{.readings = sampler.take()};
  const double before = thread_seconds();
  for (int i = 0; i < kTimes; ++i)
    belief.infer(constants, seen, {.samples = kWatchSamples, .seed = static_cast<uint64_t>(i)});
  fmt::print("one update: {:.3f} ms, {} samples of {} variables\n",
             1e3 * (thread_seconds() - before) / kTimes, kWatchSamples, belief.network().size());
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
             mean_of(busy) > 0.1 ? ": figures tell little next to the work of others" : "");
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
    belief.infer(constants, {.readings = sampler.take()},
                 {.samples = kWatchSamples, .seed = static_cast<uint64_t>(reading)});
  }
  return {seconds_now() - before.wall, thread_seconds() - before.processor};
}

namespace {

// A run without and with watch_host, in turns, for about so long.
void show_pairs(const Machine& machine, std::vector<std::vector<float>>& memory, Division division,
                double seconds) {
  const double begin = seconds_now();
  Spent watcher;
  // Both begin after a rest: cores that have just worked are quicker than those that have slept.
  constexpr double kUntilCountersAreFound = 0.3;
  const auto alone = [&] {
    pause(kUntilCountersAreFound);
    return work_on_all(memory, division);
  };
  const auto watched = [&] {
    std::atomic<bool> stop{false};
    Spent own;
    std::thread thread([&] { own = watch_host(machine, stop); });
    pause(kUntilCountersAreFound);
    const Spent run = work_on_all(memory, division);
    stop = true;
    thread.join();
    watcher.wall += own.wall;
    watcher.processor += own.processor;
    return run;
  };
  std::vector<double> wall;
  std::vector<double> processor;
  for (double longest = 0; wall.size() < 200 && seconds_now() + longest - begin < seconds;) {
    const double from = seconds_now();
    const bool first = wall.size() % 2 == 0;  // whatever drifts falls on both
    const Spent one = first ? alone() : watched();
    const Spent other = first ? watched() : alone();
    wall.push_back(first ? other.wall / one.wall : one.wall / other.wall);
    processor.push_back(first ? other.processor / one.processor : one.processor / other.processor);
    longest = std::max(longest, seconds_now() - from);
  }
  fmt::print(
      "{}, {} pairs:\n  time {}, median {:.4f}; its own processor time {}, median {:.4f}\n",
      division == Division::even ? "each core has its part" : "a free core takes the next piece",
      wall.size(), shown(wall, 4), median_of(wall), shown(processor, 4), median_of(processor));
  const double share = watcher.processor / watcher.wall;
  fmt::print("  the watcher's own time: {:.2f} % of one core, {:.3f} % of all\n", 100 * share,
             100 * share / static_cast<double>(memory.size()));
}

}  // namespace

void show_overhead(const Machine& machine, double seconds) {
  warn_of_others(machine);
  show_costs(machine);
  std::vector<std::vector<float>> memory(std::max(1U, std::thread::hardware_concurrency()),
                                         std::vector<float>(size_t{4} << 20, 1.0F));
  work_on_all(memory, Division::even);
  fmt::print(
      "a run on {} cores with readings every {} ms and an update every {}, over the run "
      "alone\n",
      memory.size(), kBetweenReadings.count(), kReadings);
  for (const Division division : {Division::pieces, Division::even})
    show_pairs(machine, memory, division, seconds / 2);
}

}  // namespace tutti
