#include "tutti/plan/bound.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "tutti/plan/bound/energetic.h"
#include "tutti/plan/bound/gaps.h"
#include "tutti/plan/bound/instance.h"
#include "tutti/plan/bound/load.h"
#include "tutti/plan/bound/streams.h"
#include "tutti/plan/bound/subset.h"
#include "tutti/plan/bound/windows.h"

namespace tutti {
namespace bound {
namespace {

constexpr int64_t kCoarsePrice = 4096;  // so that priced work fits into 64 bits

// The subset bound over all ops, where an op takes the price of its run time on the cheapest class
// and the capacity is the price of all slots. At equal prices that is plain run time and slots.
Ticks subset_bound(const Instance& instance, const Windows& windows, const Prices& prices,
                   bool exact) {
  Wide capacity = 0;
  for (size_t c = 0; c < prices.size(); ++c) {
    capacity += static_cast<Wide>(instance.classes[c].slots()) * prices[c];
  }
  std::vector<Item> items;
  items.reserve(instance.size);
  Wide total = capacity;
  for (int32_t op = 0; op < instance.size; ++op) {
    const Wide work = cheapest(instance, OpId{op}, prices).price;
    total += work;
    if (total > kUnreachable) return 0;  // too large to reckon with
    items.push_back(
        {.head = windows.head[op], .work = static_cast<int64_t>(work), .tail = windows.tail[op]});
  }
  const auto slots = static_cast<int64_t>(capacity);
  return exact ? SubsetBound().of(items, slots) : coarse_subset_bound(items, slots);
}

bool has_transfers(const Instance& instance) {
  const std::span<const Neighbour> all = instance.before[kFromStart].all();
  return std::any_of(all.begin(), all.end(),
                     [](const Neighbour& neighbour) { return neighbour.transfer > 0; });
}

class Assembly {
 public:
  Assembly(const Problem& problem, const BoundLimits& limits)
      : limits_(limits), instance_(make_instance(problem)) {}

  Bounds bounds() {
    const Load load = load_bound(instance_);
    load_prices_ = prices_of(instance_, load.shares, kCoarsePrice);
    Windows windows = find_windows(instance_, {});
    const Ticks path = longest_through(instance_, windows);

    const Gaps gaps = instance_.size <= limits_.ancestors ? Gaps(instance_) : Gaps();
    if (!gaps.empty()) windows = find_windows(instance_, {.gaps = &gaps});
    const Ticks interval = best_within(windows, std::max(load.bound, path));

    Ticks communication = interval;
    if (has_transfers(instance_)) {
      windows = find_windows(instance_, {.transfers = true, .gaps = &gaps});
      communication = best_within(windows, interval);
    }
    return {.load = load.bound * instance_.tick,
            .load_per_pass = load.per_pass,
            .path = path * instance_.tick,
            .interval = interval * instance_.tick,
            .communication = communication * instance_.tick};
  }

 private:
  // The most that the windows prove, starting from what is known.
  Ticks best_within(const Windows& windows, Ticks known) const {
    const bool exact = instance_.size <= limits_.exact_subset;
    const Prices equal(instance_.classes.size(), 1);
    known = std::max(known, longest_through(instance_, windows));
    known = std::max(known, subset_bound(instance_, windows, equal, exact));
    if (instance_.classes.size() > 1) {
      known = std::max(known, subset_bound(instance_, windows, load_prices_, exact));
    }
    if (instance_.size > limits_.energetic) return known;
    return energetic_bound(instance_, windows, known);
  }

  const BoundLimits& limits_;
  const Instance instance_;
  Prices load_prices_;
};

}  // namespace
}  // namespace bound

Bounds lower_bounds(const Problem& problem, const BoundLimits& limits) {
  if (problem.graph.size() == 0) return {};
  Bounds bounds = bound::Assembly(problem, limits).bounds();
  bounds.streams = bound::stream_bound(problem);
  return bounds;
}

// Three reasons. N passes are N times the work, so the load bound holds for each, but for its
// rounding: one op on two slots takes its whole time once, and half of it per pass. A device runs
// all ops that are placed on it once per pass, and those of a colocation group are placed on one. A
// pass takes no less than a run alone (but for streams, which may set out before it begins), and
// `in_flight` of them end in that time at most.
Duration bound_per_pass(const Problem& problem, const Bounds& bounds, int in_flight) {
  std::vector<bool> seen(static_cast<size_t>(problem.colocation_group_count()), false);
  Duration heaviest{0};
  for (const OpId op : problem.graph.ops()) {
    const int group = problem.colocation_group(op);
    if (group >= 0 && seen[static_cast<size_t>(group)]) continue;
    if (group >= 0) seen[static_cast<size_t>(group)] = true;
    Duration least = kNever;
    for (const DeviceId device : problem.devices_for(op)) {
      Duration work{0};
      if (group < 0) work = problem.costs.run_time(op, device);
      for (const OpId member : group < 0 ? std::span<const OpId>{} : problem.members(group)) {
        work += problem.costs.run_time(member, device);
      }
      least = std::min(least, work / problem.machine.device(device).slots);
    }
    heaviest = std::max(heaviest, least);
  }
  const Duration alone =
      std::max({bounds.load, bounds.path, bounds.interval, bounds.communication});
  return std::max({bounds.load_per_pass, heaviest, (alone + Duration(in_flight - 1)) / in_flight});
}

double gap_to(Duration bound, double makespan_ns) {
  if (makespan_ns == 0) return 0;
  if (bound.count() == 0) return std::numeric_limits<double>::quiet_NaN();
  return makespan_ns / static_cast<double>(bound.count()) - 1;
}

}  // namespace tutti
