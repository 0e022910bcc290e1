// Whether the belief tracks what really happens on this host (docs/results/real-belief.md):
//
//   real_belief track FILE [SECONDS]   load of known intensity on memory and PCIe; what is believed
//                                      of their use against the truth. FILE gets one line of JSON
//                                      for each repetition, and what is in it is not measured
//                                      again; no repetition begins that would not end within
//                                      SECONDS (50)
//   real_belief overhead [SECONDS]     what reading all counters at the default interval and
//                                      updating the belief costs a run on the same host
//   real_belief watch                  reads and updates until it is killed
//
// The truth is what the makers of the load know: bytes moved over the most that all of them
// together move. The belief sees counters (tutti/telemetry), what the scheduler itself launched
// (about half of the load), and how long its own work waits. Constants are fitted on one half of
// the intervals, without the truth; errors are those of the other half.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "studies/symphony/bench/real_load.h"
#include "studies/symphony/bench/real_watch.h"
#include "studies/symphony/own_waiting.h"
#include "tutti/base/statistics.h"
#include "tutti/belief/fit.h"
#include "tutti/machine/discover.h"
#include "tutti/telemetry/available.h"
#include "tutti/telemetry/sampler.h"

namespace tutti {
namespace {

using nlohmann::json;

constexpr int kRepetitions = 5;
constexpr int kIntervals = 40;  // of a repetition; every other one is for fitting
constexpr auto kSettling = std::chrono::milliseconds(30);

// ---- calibration: what the makers of the load know

struct Known {
  double peak = 0;       // bytes per second that all together move
  double one = 0;        // that one worker moves alone
  double told = 0;       // ns that the probe's first piece takes alone,
  double told_most = 0;  // that nine of ten take at most,
  double told_full = 0;  // and next to all workers
  double asked = 0;      // likewise its second
};

// Bytes per second, and the probe's median times.
std::pair<double, Probe::Times> measured(const RealLoad& load, const Loaded& item, double seconds) {
  item.probe->take();
  const int64_t before = load.bytes(item);
  const double begin = seconds_now();
  pause(seconds);
  const double rate = static_cast<double>(load.bytes(item) - before) / (seconds_now() - begin);
  return {rate, item.probe->take()};
}

std::vector<Known> calibrated(RealLoad& load) {
  constexpr double kSeconds = 0.4;
  std::vector<Known> known;
  for (const Loaded& item : load.loaded()) {
    Known one;
    load.rest();
    pause(0.1);
    const auto alone = measured(load, item, kSeconds).second;
    one.told = median_of(alone.told);
    one.asked = median_of(alone.asked);
    std::vector<double> sorted = alone.told;
    std::sort(sorted.begin(), sorted.end());
    if (!sorted.empty()) one.told_most = sorted[sorted.size() * 9 / 10];
    item.workers[0]->order({.piece = kStream, .duty = 1});
    pause(0.1);
    one.one = measured(load, item, kSeconds).first;
    load.fill(item);
    pause(0.1);
    for (int turn = 0; turn < 2; ++turn) {
      const auto [rate, times] = measured(load, item, kSeconds);
      one.peak = std::max(one.peak, rate);
      one.told_full = std::max(one.told_full, median_of(times.told));
    }
    load.rest();
    known.push_back(one);
    fmt::print(
        "{}: stated {:.3g} B/s, measured {:.3g} (one worker {:.3g}); the probe takes {:.0f} us "
        "alone, {:.2f} times as long when it is full\n",
        item.name, item.stated, one.peak, one.one, 1e-3 * one.told, one.told_full / one.told);
  }
  return known;
}

// ---- one repetition

// One interval: what is seen, and what is true of each loaded resource.
struct Interval {
  Observation observation;
  double busy = 0;  // mean of what counters say of cores
  struct Item {
    double truth = 0;
    double naive = 0;  // what is counted, or else known to be launched, in bytes per second
    double slow_down = 0;
  };
  std::vector<Item> items;
};

class Tracking {
 public:
  Tracking(const Machine& machine, RealLoad& load, const std::vector<Known>& known)
      : load_(load),
        known_(known),
        sampler_(sources(machine)),
        belief_(machine, sampler_.counters()) {}
  // Of each loaded resource, what speaks about it here.
  void say_what_is_seen(const Machine& machine) const {
    for (const AvailableSource& item : available_sources(machine)) {
      if (item.source == nullptr) fmt::print("no {}: {}\n", item.name, item.why_not);
    }
    for (const Loaded& item : load_.loaded()) {
      std::string seen;
      for (const Counter& counter : sampler_.counters()) {
        if (counter.resource == item.resource && counter.quantity != Quantity::other)
          seen += (seen.empty() ? "" : ", ") + counter.name;
      }
      if (!traffic_counted(item)) {
        seen += std::string(seen.empty() ? "" : ", ") +
                "what we launch; no counter tells its traffic, and how busy cores are says nothing "
                "of it";
      }
      fmt::print("{}: seen by {}\n", item.name, seen);
    }
  }

  ~Tracking() {
    for (const Loaded& item : load_.loaded()) item.probe->tell({});
  }

  json repeat(uint64_t seed) {
    Rng rng(seed);
    std::vector<Interval> fitting;
    std::vector<Interval> testing;
    for (int i = 0; i < kIntervals; ++i) (i % 2 == 0 ? fitting : testing).push_back(watch(rng));
    load_.rest();
    std::vector<Observation> seen;
    for (const Interval& interval : fitting) seen.push_back(interval.observation);
    const std::vector<double> start = belief_.network().start();
    const std::vector<double> fitted =
        fit_constants(belief_, start, seen, {.sampling = {.samples = 256, .seed = seed}});
    json found{{"seed", seed}, {"resources", json::object()}};
    for (size_t r = 0; r < load_.loaded().size(); ++r)
      found["resources"][load_.loaded()[r].name] = judged(r, fitting, testing, start, fitted);
    const std::vector<double> natural = belief_.network().natural(fitted);
    for (size_t k = 0; k < natural.size(); ++k)
      found["constants"][belief_.network().constants()[k].name] = natural[k];
    return found;
  }

 private:
  std::vector<std::unique_ptr<CounterSource>> sources(const Machine& machine) {
    auto list = all_sources(machine);
    std::vector<OwnWaiting::Work> works;
    std::vector<size_t> whose;
    for (size_t r = 0; r < known_.size(); ++r) {
      const Loaded& item = load_.loaded()[r];
      if (known_[r].told_full <= known_[r].told_most) {
        fmt::print(
            "{}: full or not, our own work takes as long as one in ten times alone: its waiting "
            "tells nothing and is left out\n",
            item.name);
        continue;
      }
      works.push_back({item.name, item.resource, Duration(std::llround(known_[r].told)),
                       Duration(std::llround(known_[r].told_full))});
      whose.push_back(r);
    }
    auto owned = std::make_unique<OwnWaiting>(std::move(works));
    OwnWaiting* const waiting = owned.get();
    for (size_t w = 0; w < whose.size(); ++w) {
      load_.loaded()[whose[w]].probe->tell(
          [waiting, w](Duration taken) { waiting->note(w, taken); });
    }
    list.push_back(std::move(owned));
    return list;
  }

  Interval watch(Rng& rng) {
    Interval interval;
    std::vector<double> launched;
    for (size_t r = 0; r < known_.size(); ++r) {
      const Loaded& item = load_.loaded()[r];
      const std::vector<Order> orders = load_.draw(item, rng);
      double own = 0;
      for (size_t w = 0; w < orders.size(); ++w) {
        item.workers[w]->order(orders[w]);
        if (orders[w].own && orders[w].piece == kStream) own += orders[w].duty * known_[r].one;
      }
      launched.push_back(own);
    }
    std::this_thread::sleep_for(kSettling);
    sampler_.sample();
    sampler_.take();
    std::vector<int64_t> before;
    for (const Loaded& item : load_.loaded()) {
      before.push_back(load_.bytes(item));
      item.probe->take();
    }
    const double begin = seconds_now();
    for (int i = 0; i < kReadings; ++i) {
      std::this_thread::sleep_for(kBetweenReadings);
      sampler_.sample();
    }
    const double lasted = seconds_now() - begin;
    interval.observation.readings = sampler_.take();
    for (size_t r = 0; r < known_.size(); ++r) {
      const Loaded& item = load_.loaded()[r];
      const double rate = static_cast<double>(load_.bytes(item) - before[r]) / lasted;
      const CounterReading* const counted = traffic_of(item, interval.observation);
      // What is counted holds our own already.
      if (counted == nullptr)
        interval.observation.launched.push_back({item.resource, launched[r], 0.1 * launched[r]});
      interval.items.push_back({std::min(1.0, rate / known_[r].peak),
                                counted != nullptr ? counted->mean : launched[r],
                                mean_of(item.probe->take().asked) / known_[r].asked});
    }
    interval.busy = busy_cores(interval.observation);
    return interval;
  }

  bool traffic_counted(const Loaded& item) const {
    return std::any_of(sampler_.counters().begin(), sampler_.counters().end(), [&](const auto& c) {
      return c.quantity == Quantity::traffic && c.resource == item.resource;
    });
  }

  const CounterReading* traffic_of(const Loaded& item, const Observation& observation) const {
    for (size_t c = 0; c < sampler_.counters().size(); ++c) {
      const Counter& counter = sampler_.counters()[c];
      if (counter.quantity == Quantity::traffic && counter.resource == item.resource &&
          observation.readings[c].count > 0) {
        return &observation.readings[c];
      }
    }
    return nullptr;
  }

  double busy_cores(const Observation& observation) const {
    std::vector<double> values;
    for (size_t c = 0; c < sampler_.counters().size(); ++c) {
      if (sampler_.counters()[c].resource.kind == Resource::Kind::core &&
          observation.readings[c].count > 0) {
        values.push_back(observation.readings[c].mean);
      }
    }
    return mean_of(values);
  }

  // What is believed of a resource in each interval; `blind`: without what our own work waits.
  std::vector<double> believed(const Loaded& item, const std::vector<Interval>& intervals,
                               const std::vector<double>& constants, bool blind) const {
    size_t place = 0;
    while (belief_.resources()[place].resource != item.resource) ++place;
    std::vector<double> uses;
    for (const Interval& interval : intervals) {
      Observation seen = interval.observation;
      for (size_t c = 0; c < seen.readings.size() && blind; ++c) {
        if (sampler_.counters()[c].quantity == Quantity::waiting) seen.readings[c] = {};
      }
      uses.push_back(belief_.infer(constants, seen, {.samples = 512}).mean[place]);
    }
    return uses;
  }

  json judged(size_t r, const std::vector<Interval>& fitting, const std::vector<Interval>& testing,
              const std::vector<double>& start, const std::vector<double>& fitted) const;

  RealLoad& load_;
  const std::vector<Known>& known_;
  Sampler sampler_;
  Belief belief_;
};

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a);
  const double mean_b = mean_of(b);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

double mean_error(const std::vector<double>& guesses, const std::vector<double>& truths) {
  double sum = 0;
  for (size_t i = 0; i < truths.size(); ++i) sum += std::abs(guesses[i] - truths[i]);
  return sum / static_cast<double>(truths.size());
}

// Mean error in the second half of what a straight line through the first says of y by x.
double line_error(const std::vector<double>& x, const std::vector<double>& y,
                  const std::vector<double>& other_x, const std::vector<double>& other_y) {
  const double slope = summary_of(x).deviation > 0
                           ? correlation(x, y) * summary_of(y).deviation / summary_of(x).deviation
                           : 0;
  std::vector<double> guesses;
  for (const double one : other_x) guesses.push_back(mean_of(y) + slope * (one - mean_of(x)));
  return mean_error(guesses, other_y);
}

json Tracking::judged(size_t r, const std::vector<Interval>& fitting,
                      const std::vector<Interval>& testing, const std::vector<double>& start,
                      const std::vector<double>& fitted) const {
  const Loaded& item = load_.loaded()[r];
  const auto column = [&](const std::vector<Interval>& from, auto&& of) {
    std::vector<double> values;
    for (const Interval& interval : from) values.push_back(of(interval));
    return values;
  };
  const auto truth = [r](const Interval& i) { return i.items[r].truth; };
  const auto naive = [&](const Interval& i) { return i.items[r].naive / item.stated; };
  const auto at_peak = [&](const Interval& i) { return i.items[r].naive / known_[r].peak; };
  const auto busy = [](const Interval& i) { return i.busy; };
  const auto slow = [r](const Interval& i) { return i.items[r].slow_down; };
  const std::vector<double> truths = column(testing, truth);
  json found{
      {"truth_mean", mean_of(truths)},
      {"truth_spread", mean_error(std::vector<double>(truths.size(), mean_of(truths)), truths)},
      {"slow_down_most", summary_of(column(testing, slow)).most}};
  const auto add = [&](const std::string& name, const std::vector<double>& before,
                       const std::vector<double>& now) {
    found[name] = {
        {"error", mean_error(now, truths)},
        {"correlation", correlation(now, truths)},
        {"slow_down_error", line_error(before, column(fitting, slow), now, column(testing, slow))}};
  };
  add("naive", column(fitting, naive), column(testing, naive));
  add("naive_peak", column(fitting, at_peak), column(testing, at_peak));
  add("busy_cores", column(fitting, busy), column(testing, busy));
  add("belief_before", believed(item, fitting, start, false),
      believed(item, testing, start, false));
  add("belief_blind", believed(item, fitting, fitted, true), believed(item, testing, fitted, true));
  add("belief", believed(item, fitting, fitted, false), believed(item, testing, fitted, false));
  add("constant", std::vector<double>(fitting.size(), 0.25),
      std::vector<double>(testing.size(), 0.25));
  return found;
}

// ---- track

void show(const std::vector<json>& repetitions) {
  if (repetitions.empty()) return;
  const std::pair<const char*, const char*> rows[] = {
      {"constant", "always 0.25, as the prior has it"},
      {"naive", "naive: counted or launched / stated"},
      {"naive_peak", "the same / measured peak"},
      {"busy_cores", "mean use of cores"},
      {"belief_before", "belief before fitting"},
      {"belief_blind", "belief, without own waiting"},
      {"belief", "belief"}};
  for (const auto& [resource, first] : repetitions[0]["resources"].items()) {
    const auto values = [&, &name = resource](const char* row, const char* what) {
      std::vector<double> list;
      for (const json& one : repetitions) list.push_back(one["resources"][name][row][what]);
      return list;
    };
    std::vector<double> spread;
    std::vector<double> most;
    for (const json& one : repetitions) {
      spread.push_back(one["resources"][resource]["truth_spread"]);
      most.push_back(one["resources"][resource]["slow_down_most"]);
    }
    fmt::print(
        "\n{}: {} repetitions of {} intervals; mean distance of the truth from its mean {}; "
        "slow-down of the probe at most {}\n",
        resource, repetitions.size(), kIntervals / 2, shown(spread), shown(most, 2));
    fmt::print(
        "| what is taken for the use | mean error | correlation | error of the slow-down |\n"
        "|---|---:|---:|---:|\n");
    for (const auto& [row, text] : rows) {
      fmt::print("| {} | {} | {} | {} |\n", text, shown(values(row, "error")),
                 shown(values(row, "correlation"), 2), shown(values(row, "slow_down_error")));
    }
  }
}

int track(const std::string& path, double seconds) {
  const double begin = seconds_now();
  std::map<uint64_t, json> done;
  std::ifstream before(path);
  for (std::string line; std::getline(before, line);) {
    const json one = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (one.is_object() && one.contains("seed")) done[one["seed"].get<uint64_t>()] = one;
  }
  if (static_cast<int>(done.size()) < kRepetitions) {
    const Machine machine = must(discover_machine());
    warn_of_others(machine);
    const auto load = must(RealLoad::open(machine));
    const std::vector<Known> known = calibrated(*load);
    Tracking tracking(machine, *load, known);
    tracking.say_what_is_seen(machine);
    double longest = 0;
    for (uint64_t seed = 1; seed <= kRepetitions; ++seed) {
      if (done.contains(seed)) continue;
      const double started = seconds_now();
      if (started + longest - begin > seconds) break;
      done[seed] = tracking.repeat(seed);
      longest = std::max(longest, seconds_now() - started);
      std::ofstream(path, std::ios::app) << done[seed].dump() << '\n';
    }
  }
  std::vector<json> repetitions;
  for (const auto& [seed, one] : done) repetitions.push_back(one);
  show(repetitions);
  if (static_cast<int>(done.size()) < kRepetitions)
    fmt::print("\n{} of {} repetitions: run it again for the others\n", done.size(), kRepetitions);
  return 0;
}

int usage() {
  fmt::print(stderr, "usage: real_belief track FILE [SECONDS] | overhead [SECONDS] | watch\n");
  return 2;
}

int run(const std::vector<std::string>& words) {
  const auto seconds = [&](size_t place) {
    const double given = words.size() > place ? std::atof(words[place].c_str()) : 50;
    if (given > 0) return given;
    std::exit(usage());
  };
  if (words.empty()) return usage();
  if (words[0] == "track" && words.size() >= 2) return track(words[1], seconds(2));
  if (words[0] == "overhead") {
    show_overhead(must(discover_machine()), seconds(1));
    return 0;
  }
  if (words[0] != "watch") return usage();
  const std::atomic<bool> never{false};
  watch_host(must(discover_machine()), never);
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  return tutti::run({argv + 1, argv + argc});
}
