// The earliest of n times, any of which may change: a tournament, so that a change costs log n and
// the winner nothing.

#ifndef TUTTI_RUNTIME_SIM_LINKS_EARLIEST_OF_H_
#define TUTTI_RUNTIME_SIM_LINKS_EARLIEST_OF_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "tutti/base/time.h"

namespace tutti {

class EarliestOf {
 public:
  explicit EarliestOf(int32_t count)
      : leaves_(std::bit_ceil(static_cast<uint32_t>(count > 0 ? count : 1))),
        times_(leaves_),
        winners_(2 * leaves_) {
    reset();
  }

  // All never.
  void reset() {
    std::fill(times_.begin(), times_.end(), kNever);
    // Node n is decided between nodes 2n and 2n + 1; the leaves come last and stand for themselves.
    for (size_t i = winners_.size(); i-- > 1;) {
      winners_[i] = i < leaves_ ? winners_[2 * i] : static_cast<uint32_t>(i - leaves_);
    }
  }

  Duration operator[](int32_t index) const { return times_[index]; }
  // One of the earliest.
  int32_t which() const { return static_cast<int32_t>(winners_[1]); }
  Duration earliest() const { return times_[winners_[1]]; }

  void set(int32_t index, Duration time) {
    times_[index] = time;
    auto winner = static_cast<uint32_t>(index);
    for (size_t node = leaves_ + winner; node > 1; node /= 2) {
      // Chosen by arithmetic, not by a branch: the winner cannot be predicted.
      const uint32_t rival = winners_[node ^ 1];
      const uint32_t rival_wins = times_[rival] < times_[winner];
      winner ^= (winner ^ rival) & (0U - rival_wins);
      winners_[node / 2] = winner;
    }
  }

 private:
  size_t leaves_;
  std::vector<Duration> times_;
  std::vector<uint32_t> winners_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_LINKS_EARLIEST_OF_H_
