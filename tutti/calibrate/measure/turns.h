// Measurements that are compared with each other are taken in turns: each turn measures every row
// once, in an order drawn for that turn. A disturbance of the host then affects all rows alike.

#ifndef TUTTI_CALIBRATE_MEASURE_TURNS_H_
#define TUTTI_CALIBRATE_MEASURE_TURNS_H_

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/base/stop.h"

namespace tutti {

// Fisher and Yates. The same random numbers give the same order.
template <class T>
void shuffle(std::span<T> items, Rng& rng) {
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

// The rows in the order of one turn.
std::vector<size_t> order_of_turn(size_t rows, uint64_t seed, int64_t turn);

struct Turns {
  int warm_up = 1;  // turns before those that count
  int repeats = 10;
  uint64_t seed = 1;  // of the orders
  Stop stop{};
  // Called before each turn.
  std::function<void(int turn, int turns)> on_turn{};
};

// One measurement of a row.
struct Turn {
  size_t row = 0;
  int turn = 0;
  bool counts = false;  // not a warm-up
};

// Calls `measure` for every row of every turn, until it is stopped or `measure` returns false.
void measure_in_turns(size_t rows, const Turns& turns,
                      const std::function<bool(const Turn& turn)>& measure);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_MEASURE_TURNS_H_
