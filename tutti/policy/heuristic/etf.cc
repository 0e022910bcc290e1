#include "tutti/policy/heuristic/etf.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include "tutti/plan/draft.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/memory.h"
#include "tutti/policy/schedule/ranks.h"
#include "tutti/policy/schedule/tight_memory.h"

namespace tutti {
namespace {

// Pairs of one device. Entries of ops that have gone elsewhere are dropped when they come up.
struct Waiting {  // the earliest arrival on top, then the longest path
  Duration arrival;
  double rank;
  OpId op;
  friend bool operator<(const Waiting& a, const Waiting& b) {
    return std::tuple(b.arrival, a.rank, b.op) < std::tuple(a.arrival, b.rank, a.op);
  }
};
struct Startable {  // the longest path on top
  double rank;
  OpId op;
  friend bool operator<(const Startable& a, const Startable& b) {
    return std::tuple(a.rank, b.op) < std::tuple(b.rank, a.op);
  }
};

// What a device would do next.
struct Offer {
  OpId op{};
  DeviceId device{};
  Duration start{kNever};
  double rank = 0;
  Duration finish{kNever};
  bool better_than(const Offer& other) const {
    return std::tuple(start, -rank, finish, op) <
           std::tuple(other.start, -other.rank, other.finish, other.op);
  }
};

class EtfQueue {
 public:
  EtfQueue(const Problem& problem, const EtfOptions& options, double memory_share)
      : problem_(problem),
        options_(options),
        rank_(upward_ranks(problem, EdgeWeight::distinct_pairs)),
        draft_(problem, memory_share),
        waiting_(static_cast<size_t>(problem.machine.size())),
        startable_(static_cast<size_t>(problem.machine.size())),
        reserved_for_(static_cast<size_t>(problem.machine.size())),
        reserved_until_(static_cast<size_t>(problem.machine.size()), Duration{0}),
        pairs_(static_cast<size_t>(problem.graph.size()), 0),
        is_ready_(static_cast<size_t>(problem.graph.size()), false),
        group_device_(static_cast<size_t>(problem.colocation_group_count())) {
    for (const OpId op : draft_.ready()) add_ready(op);
  }

  // None if memory leaves some op no device, or if it was stopped.
  std::optional<Plan> run() {
    while (!draft_.complete()) {
      if (options_.stop.now()) return std::nullopt;
      const Offer offer = best_offer();
      if (offer.op.valid()) {
        place(offer);
      } else if (!retry()) {
        return std::nullopt;
      }
    }
    return draft_.to_plan();
  }

 private:
  bool fits(OpId op, DeviceId device) const {
    if (!options_.memory || !problem_.has_memory_limits()) return true;
    const auto devices = draft_.devices_for(op);
    return std::binary_search(devices.begin(), devices.end(), device);
  }

  // False for pairs that are of no use: the op is placed, or its group is elsewhere.
  bool open(OpId op, DeviceId device) const {
    if (draft_.placement(op).valid()) return false;
    const int group = problem_.colocation_group(op);
    if (group < 0) return true;
    const DeviceId home = group_device_[static_cast<size_t>(group)];
    return !home.valid() || home == device;
  }

  void add_ready(OpId op) {
    is_ready_[static_cast<size_t>(op.index)] = true;
    for (const DeviceId device : problem_.devices_for(op)) {
      if (!open(op, device)) continue;
      ++pairs_[op.index];
      waiting_[static_cast<size_t>(device.index)].push(
          {draft_.arrival(op, device), rank_[op.index], op});
    }
  }

  // A pair has left the queues unused. An op without pairs waits for a retry.
  void drop(OpId op) {
    if (--pairs_[op.index] == 0 && !draft_.placement(op).valid()) stuck_.push_back(op);
  }

  // Moves what could start at once, and drops what is of no use from both tops.
  void tidy(DeviceId device) {
    auto& waiting = waiting_[static_cast<size_t>(device.index)];
    auto& startable = startable_[static_cast<size_t>(device.index)];
    const Duration free = draft_.free_at(device);
    while (!waiting.empty()) {
      const Waiting top = waiting.top();
      const bool useful = open(top.op, device);
      if (useful && top.arrival > free && fits(top.op, device)) break;
      waiting.pop();
      if (useful && top.arrival <= free) {
        startable.push({top.rank, top.op});
      } else {
        drop(top.op);
      }
    }
    while (!startable.empty()) {
      const OpId op = startable.top().op;
      if (open(op, device) && fits(op, device)) break;
      startable.pop();
      drop(op);
    }
  }

  Offer offer_of(DeviceId device) {
    tidy(device);
    const auto& waiting = waiting_[static_cast<size_t>(device.index)];
    const auto& startable = startable_[static_cast<size_t>(device.index)];
    Offer offer;
    if (!startable.empty()) {
      offer = {.op = startable.top().op, .device = device, .start = draft_.free_at(device)};
    } else if (!waiting.empty()) {
      // A reserved device is kept free for the favourite; only what can start at once may take it.
      const Duration until =
          reservation_holds(device) ? reserved_until_[device.index] : Duration{0};
      offer = {.op = waiting.top().op,
               .device = device,
               .start = std::max(waiting.top().arrival, until)};
    }
    if (const OpId favourite = ready_favourite(device); favourite.valid()) {
      const Duration start = draft_.earliest_start(favourite, device);
      if (start <= offer.start) offer = {.op = favourite, .device = device, .start = start};
    }
    if (offer.op.valid()) {
      offer.rank = rank_[offer.op.index];
      offer.finish = offer.start + problem_.costs.run_time(offer.op, device);
    }
    return offer;
  }

  bool reservation_holds(DeviceId device) const {
    const OpId op = reserved_for_[device.index];
    return op.valid() && !draft_.placement(op).valid();
  }

  OpId ready_favourite(DeviceId device) const {
    const OpId op = reserved_for_[device.index];
    if (!op.valid() || !is_ready_[static_cast<size_t>(op.index)] || !open(op, device)) return {};
    return problem_.allows(op, device) && fits(op, device) ? op : OpId{};
  }

  Offer best_offer() {
    Offer best;
    for (const DeviceId device : problem_.machine.devices()) {
      const Offer offer = offer_of(device);
      if (offer.op.valid() && (!best.op.valid() || offer.better_than(best))) best = offer;
    }
    return best;
  }

  void place(const Offer& offer) {
    if (const int group = problem_.colocation_group(offer.op); group >= 0) {
      group_device_[static_cast<size_t>(group)] = offer.device;
    }
    const size_t ready_before = draft_.ready().size();
    draft_.apply_at(offer.op, offer.device, offer.start);
    // The draft appends what has become ready.
    const auto ready = draft_.ready();
    for (size_t i = ready_before - 1; i < ready.size(); ++i) add_ready(ready[i]);
    if (!options_.favourite.empty()) reserve(offer);
  }

  // The device stays free for the favourite as long as another would wait for the value.
  void reserve(const Offer& offer) {
    const OpId favourite = options_.favourite[static_cast<size_t>(offer.op.index)];
    reserved_for_[offer.device.index] = favourite;
    if (!favourite.valid()) return;
    Duration transfer{0};
    for (const EdgeId edge : problem_.graph.edges(favourite)) {
      if (problem_.graph.edge_from(edge) == offer.op) {
        transfer = std::max(transfer, problem_.costs.least_transfer_time(edge));
      }
    }
    reserved_until_[offer.device.index] = offer.finish + transfer;
  }

  // Memory may have been given back since a pair was dropped. False if no stuck op fits anywhere.
  bool retry() {
    std::vector<OpId> stuck;
    stuck.swap(stuck_);
    bool any = false;
    for (const OpId op : stuck) {
      if (draft_.placement(op).valid()) continue;
      if (draft_.devices_for(op).empty()) {
        stuck_.push_back(op);
        continue;
      }
      add_ready(op);
      any = true;
    }
    return any;
  }

  const Problem& problem_;
  const EtfOptions& options_;
  std::vector<double> rank_;
  Draft draft_;
  std::vector<std::priority_queue<Waiting>> waiting_;      // by device
  std::vector<std::priority_queue<Startable>> startable_;  // by device
  std::vector<OpId> reserved_for_;                         // by device
  std::vector<Duration> reserved_until_;                   // by device
  std::vector<int32_t> pairs_;                             // by op, in the queues
  std::vector<bool> is_ready_;
  std::vector<DeviceId> group_device_;
  std::vector<OpId> stuck_;
};

}  // namespace

Result<Plan> earliest_task_first(const Problem& problem, const EtfOptions& options) {
  if (options.memory) {
    return plan_with_room(problem, options.stop,
                          [&](double share) { return EtfQueue(problem, options, share).run(); });
  }
  const std::optional<Plan> plan = EtfQueue(problem, options, 1).run();
  if (!plan) return out_of_time();
  if (Result<void> room = require_room(problem, plan->placement); !room) return room.error();
  return *plan;
}

Result<Plan> plan_etf(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  return earliest_task_first(problem, {.stop = budget.stop});
}

Result<Plan> plan_m_etf(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  return earliest_task_first(problem, {.memory = true, .stop = budget.stop});
}

}  // namespace tutti
