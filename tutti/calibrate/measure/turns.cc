#include "tutti/calibrate/measure/turns.h"

#include <numeric>

namespace tutti {

std::vector<size_t> order_of_turn(size_t rows, uint64_t seed, int64_t turn) {
  std::vector<size_t> order(rows);
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng = Rng(seed).split(static_cast<uint64_t>(turn));
  shuffle(std::span(order), rng);
  return order;
}

void measure_in_turns(size_t rows, const Turns& turns,
                      const std::function<bool(const Turn& turn)>& measure) {
  const int count = turns.warm_up + turns.repeats;
  for (int turn = 0; turn < count && !turns.stop.now(); ++turn) {
    if (turns.on_turn) turns.on_turn(turn, count);
    for (const size_t row : order_of_turn(rows, turns.seed, turn)) {
      if (turns.stop.now()) return;
      if (!measure({.row = row, .turn = turn, .counts = turn >= turns.warm_up})) return;
    }
  }
}

}  // namespace tutti
