// The flows of one channel that divide its bandwidth equally. Each has moved as many bytes since it
// joined as every other, so one running sum serves all: a flow that joins when the sum is s with b
// bytes ends when the sum is s + b (virtual time; Zhang, 1990). Joining and ending cost log n.

#ifndef TUTTI_RUNTIME_SIM_LINKS_EQUAL_SHARE_H_
#define TUTTI_RUNTIME_SIM_LINKS_EQUAL_SHARE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tutti/base/time.h"

namespace tutti {

class EqualShare {
 public:
  explicit EqualShare(double bytes_per_ns)
      : bytes_per_ns_(bytes_per_ns), ns_per_byte_(1 / bytes_per_ns) {}

  void reset() {
    flows_.clear();
    moved_ = 0;
    seen_ = Duration{0};
  }

  void join(Duration now, double bytes, int64_t turn, int32_t transfer) {
    move_to(now);
    flows_.push_back({.ends_at = moved_ + bytes, .turn = turn, .transfer = transfer});
    std::push_heap(flows_.begin(), flows_.end(), std::greater<>());
  }

  // Takes out the flows that end at `now` or before, and appends (turn, transfer) of each.
  void advance(Duration now, std::vector<std::pair<int64_t, int32_t>>& ended) {
    move_to(now);
    const double enough = moved_ + kRoundingNs * bytes_per_ns_;
    while (!flows_.empty() && flows_.front().ends_at <= enough) {
      ended.emplace_back(flows_.front().turn, flows_.front().transfer);
      std::pop_heap(flows_.begin(), flows_.end(), std::greater<>());
      flows_.pop_back();
    }
  }

  // When the next flow ends if nothing joins; kNever if there is none.
  Duration next_finish() const {
    if (flows_.empty()) return kNever;
    const double bytes_left = std::max(0.0, flows_.front().ends_at - moved_);
    const double ns = bytes_left * ns_per_byte_ * static_cast<double>(flows_.size());
    return seen_ + Duration(static_cast<int64_t>(ns + (1 - kRoundingNs)));  // up to a whole one
  }

 private:
  struct Flow {
    double ends_at;  // of the running sum
    int64_t turn;
    int32_t transfer;
    friend bool operator>(const Flow& a, const Flow& b) { return a.ends_at > b.ends_at; }
  };
  // Up to a millionth of a nanosecond is rounding, not data.
  static constexpr double kRoundingNs = 1e-6;

  void move_to(Duration now) {
    if (flows_.empty()) {
      moved_ = 0;  // a small sum keeps its digits
    } else {
      const auto elapsed = static_cast<double>((now - seen_).count());
      moved_ += elapsed * bytes_per_ns_ / static_cast<double>(flows_.size());
    }
    seen_ = now;
  }

  double bytes_per_ns_;
  double ns_per_byte_;
  double moved_ = 0;  // by each flow up to `seen_`
  Duration seen_{0};
  std::vector<Flow> flows_;  // a heap, the first to end on top
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_LINKS_EQUAL_SHARE_H_
