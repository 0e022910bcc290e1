// The proof, for one home memory H. Let T be the length of a run, y(op) = 1 if the op runs on H and
// else 0, and y(w) = 1 if all readers of weight w do. The bytes of the weights with y(w) = 0 are
// kept elsewhere or sent out of H at least once, so
//
//   sum over w of bytes(w) (1 - y(w)) <= capacity elsewhere + rate out of H * T.             (1)
//
// y(w) is no more than the mean of y over the readers of w, so that
//
//   sum of bytes(w) y(w) <= sum over op of credit(op) y(op),                                 (2)
//
// where each op gets its share of every weight that it reads and whose readers all may run on H.
// The ops on H take time: the sum of their run times is at most T times the slots there (3a). On
// any path of the graph, the run times on H of ops with y = 1 and the least run times elsewhere of
// the others sum up to at most T (3b). The largest right side of (2) under (3a), or under (3b) with
// all credit of ops off the path, is at most that of the fractional knapsack. So a T at which even
// that leaves more than (1) allows is too short. Both sides are monotone in T, which is searched.
//
// Capacity: kept weights have sizes that are multiples of their greatest common divisor. If there
// is one memory elsewhere and anything is streamed to it, the least weight must fit next to those
// that are kept; if nothing is, nothing is sent. The bound is the lesser of the two.

#include "tutti/plan/bound/streams.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tutti::bound {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// Bytes per ns that can enter a memory by one route at most, whatever is sent.
double rate_of(const Machine& machine, const Route& route) {
  double rate = kUnbounded;
  for (const Hop& hop : route.hops) {
    for (const ChannelId id : hop.channels) {
      const Channel& channel = machine.channel(id);
      if (channel.sharing == Sharing::exclusive && hop.ns_per_byte > 0) {
        rate = std::min(rate, channel.capacity / hop.ns_per_byte);
      }
      if (channel.sharing == Sharing::shared && channel.bytes_per_s > 0) {
        rate = std::min(rate, channel.bytes_per_s / 1e9);
      }
    }
  }
  return rate;
}

struct Credit {
  double credit;  // bytes
  double time;    // ns; what running on H costs
};

// The most credit for so much time.
class Knapsack {
 public:
  explicit Knapsack(std::vector<Credit> items) : items_(std::move(items)) {
    std::sort(items_.begin(), items_.end(), [](const Credit& a, const Credit& b) {
      return a.credit * b.time > b.credit * a.time;
    });
  }
  double most(double time) const {
    double credit = 0;
    for (const Credit& item : items_) {
      if (item.time > time) return credit + (item.time > 0 ? item.credit * time / item.time : 0);
      credit += item.credit;
      time -= item.time;
    }
    return credit;
  }

 private:
  std::vector<Credit> items_;
};

class HomeBound {
 public:
  HomeBound(const Problem& problem, MemoryId home) : problem_(problem), home_(home) {
    const auto ops = static_cast<size_t>(problem.graph.size());
    at_home_.assign(ops, kNever);
    elsewhere_.assign(ops, kNever);
    credit_.assign(ops, 0);
    for (const OpId op : problem.graph.ops()) {
      for (const DeviceId device : problem.devices_for(op)) {
        Duration& least =
            problem.machine.memory_of(device) == home ? at_home_[op.index] : elsewhere_[op.index];
        least = std::min(least, problem.costs.run_time(op, device));
      }
    }
    give_credit();
    find_room();
  }

  Duration bound() const {
    if (capacity_ == kUnbounded || total_ == 0) return Duration{0};
    return std::max(over_slots(), over_path());
  }

 private:
  void give_credit() {
    std::vector<OpId> readers;
    for (const ValueId weight : problem_.homed_weights()) {
      if (problem_.home(weight) != home_) continue;
      readers.clear();
      bool may_stay = true;
      for (const EdgeId edge : problem_.graph.consumers(weight)) {
        const OpId op = problem_.graph.edge_to(edge);
        if (readers.empty() || readers.back() != op) readers.push_back(op);
        may_stay = may_stay && at_home_[op.index] != kNever;
      }
      if (readers.empty()) continue;
      const auto bytes = static_cast<double>(problem_.graph.bytes(weight));
      total_ += bytes;
      divisor_ = std::gcd(divisor_, problem_.graph.bytes(weight));
      least_ = std::min(least_, problem_.graph.bytes(weight));
      for (const OpId op : readers) {
        if (may_stay) credit_[op.index] += bytes / static_cast<double>(readers.size());
      }
    }
  }

  void find_room() {
    std::vector<bool> seen(static_cast<size_t>(problem_.machine.memory_count()), false);
    for (const DeviceId device : problem_.machine.devices()) {
      const MemoryId memory = problem_.machine.memory_of(device);
      if (memory == home_) slots_ += problem_.machine.device(device).slots;
      if (memory == home_ || seen[static_cast<size_t>(memory.index)]) continue;
      seen[static_cast<size_t>(memory.index)] = true;
      ++memories_;
      const int64_t limit = problem_.memory_limit(memory);
      capacity_ += limit == kUnlimitedBytes ? kUnbounded : static_cast<double>(limit);
      const Route* route = problem_.machine.route(home_, memory);
      if (route != nullptr) rate_ += rate_of(problem_.machine, *route);
    }
    if (problem_.cold()) capacity_ = 0;  // what is kept has to be sent as well
  }

  // The shortest T at which credit(T) and what is kept and sent are no less than all weights.
  template <class CreditFor>
  Duration shortest(CreditFor credit) const {
    if (problem_.cold() || memories_ != 1 || divisor_ <= 0) {
      return shortest(credit, capacity_, rate_);
    }
    const auto whole = [&](double bytes) {
      const auto unit = static_cast<double>(divisor_);
      return bytes <= 0 ? 0 : std::floor(bytes / unit) * unit;
    };
    const double beside_streams = whole(capacity_ - static_cast<double>(least_));
    return std::min(shortest(credit, beside_streams, rate_), shortest(credit, whole(capacity_), 0));
  }

  template <class CreditFor>
  Duration shortest(CreditFor credit, double capacity, double rate) const {
    const auto enough = [&](double time) {
      const double sent = rate == 0 ? 0 : rate * time;  // 0 times infinity is no number
      return time > 0 && rate == kUnbounded
                 ? true
                 : credit(time) + capacity + sent >= total_ * (1 - 1e-12);
    };
    double low = 0;
    double high = 1;
    constexpr double kLongest = 1e17;  // of ns
    while (!enough(high) && high < kLongest) high *= 2;
    if (high >= kLongest) return Duration(static_cast<int64_t>(kLongest));
    if (enough(low)) return Duration{0};
    for (int step = 0; step < 100; ++step) {
      const double middle = (low + high) / 2;
      (enough(middle) ? high : low) = middle;
    }
    return Duration(static_cast<int64_t>(std::floor(low * (1 - 1e-9))));
  }

  Duration over_slots() const {
    std::vector<Credit> items;
    for (const OpId op : problem_.graph.ops()) {
      if (credit_[op.index] == 0) continue;
      items.push_back({credit_[op.index], static_cast<double>(at_home_[op.index].count())});
    }
    const Knapsack knapsack(std::move(items));
    return shortest([&](double time) { return knapsack.most(time * slots_); });
  }

  Duration over_path() const {
    std::vector<bool> on_path(credit_.size(), false);
    for (OpId op = last_of_longest_path(); op.valid(); op = before_[op.index]) {
      on_path[op.index] = true;
    }
    std::vector<Credit> items;
    double off_path = 0;
    double base = 0;
    for (const OpId op : problem_.graph.ops()) {
      const double credit = credit_[op.index];
      if (!on_path[op.index]) {
        off_path += credit;
        continue;
      }
      const Duration least = std::min(at_home_[op.index], elsewhere_[op.index]);
      base += static_cast<double>(least.count());
      if (credit == 0) continue;
      items.push_back({credit, static_cast<double>((at_home_[op.index] - least).count())});
    }
    const Knapsack knapsack(std::move(items));
    return shortest(
        [&](double time) { return off_path + (time < base ? 0 : knapsack.most(time - base)); });
  }

  // By least run times, leaving before_.
  OpId last_of_longest_path() const {
    std::vector<Duration> length(credit_.size(), Duration{0});
    before_.assign(credit_.size(), OpId{});
    OpId last{};
    for (const OpId op : problem_.graph.topological_order()) {
      for (const EdgeId edge : problem_.graph.edges(op)) {
        const OpId producer = problem_.graph.edge_from(edge);
        if (!producer.valid() || length[producer.index] < length[op.index]) continue;
        length[op.index] = length[producer.index];
        before_[op.index] = producer;
      }
      length[op.index] += std::min(at_home_[op.index], elsewhere_[op.index]);
      if (!last.valid() || length[op.index] > length[last.index]) last = op;
    }
    return last;
  }

  const Problem& problem_;
  MemoryId home_;
  std::vector<Duration> at_home_;    // by op: the least run time on H; kNever
  std::vector<Duration> elsewhere_;  // by op
  std::vector<double> credit_;       // by op: bytes
  double total_ = 0;                 // bytes of the weights
  int64_t divisor_ = 0;
  int64_t least_ = kUnlimitedBytes;
  double capacity_ = 0;
  double rate_ = 0;  // bytes per ns
  int slots_ = 0;
  int memories_ = 0;  // elsewhere
  mutable std::vector<OpId> before_;
};

}  // namespace

Duration stream_bound(const Problem& problem) {
  Duration most{0};
  std::vector<bool> seen(static_cast<size_t>(problem.machine.memory_count()), false);
  for (const ValueId weight : problem.homed_weights()) {
    const MemoryId home = problem.home(weight);
    if (seen[static_cast<size_t>(home.index)]) continue;
    seen[static_cast<size_t>(home.index)] = true;
    most = std::max(most, HomeBound(problem, home).bound());
  }
  return most;
}

}  // namespace tutti::bound
