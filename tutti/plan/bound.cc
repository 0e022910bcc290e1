#include "tutti/plan/bound.h"

#include <algorithm>
#include <vector>

#include "tutti/plan/bound/energetic.h"
#include "tutti/plan/bound/gaps.h"
#include "tutti/plan/bound/instance.h"
#include "tutti/plan/bound/load.h"
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
  return bound::Assembly(problem, limits).bounds();
}

}  // namespace tutti
