#include "tutti/runtime/arriving/host_counters.h"

#include <algorithm>
#include <utility>

#include "tutti/runtime/local/jobs/own_counters.h"
#include "tutti/runtime/sim/jobs/options.h"
#include "tutti/telemetry/available.h"

namespace tutti {

std::unique_ptr<CounterFeed> read_host(const Machine& machine, const FeedOptions& options) {
  std::vector<std::unique_ptr<CounterSource>> sources;
  for (AvailableSource& item : available_sources(machine, CoresAre::processors)) {
    // Those of this process and its threads say nothing of a part of the machine.
    const bool about_us = item.name == "process" || item.name == "thread";
    if (item.source != nullptr && !about_us) sources.push_back(std::move(item.source));
  }
  return std::make_unique<CounterFeed>(std::move(sources), options);
}

std::vector<Counter> counters_for_real(const Machine& machine, const CounterFeed& feed) {
  std::vector<Counter> counters = usual_counters(machine);
  std::erase_if(counters, [&](const Counter& counter) {
    if (OwnCounters::tells(machine, counter)) return false;
    return std::none_of(feed.counters().begin(), feed.counters().end(),
                        [&](const Counter& fed) { return counts_the_same(fed, counter); });
  });
  return counters;
}

}  // namespace tutti
