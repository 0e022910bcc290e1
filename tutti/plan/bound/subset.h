// The subset bound: pieces of work that all lie between two points in time need that much time.
//
// If the items of a set S are all done between min head(S) and the end of the run less min tail(S),
// and `capacity` units of work can be done per tick, then the run takes at least
//
//   min head(S) + ceil(work(S) / capacity) + min tail(S).
//
// The largest value over all S is reached by a set {head >= h, tail >= t}: adding what also has
// such a head and tail only adds work. (Fernandez, Bussell, "Bounds on the number of processors and
// time for multiprocessor optimal schedules", 1973; for one slot Carlier, "The one-machine
// sequencing problem", 1982.)

#ifndef TUTTI_PLAN_BOUND_SUBSET_H_
#define TUTTI_PLAN_BOUND_SUBSET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tutti/plan/bound/instance.h"

namespace tutti::bound {

struct Item {
  Ticks head;    // it starts no earlier
  int64_t work;  // it takes that much of the capacity
  Ticks tail;    // the run goes on for so long after its end
};

// Finds the largest value over all sets. An object keeps its memory between calls.
class SubsetBound {
 public:
  // O(m log m) for m items, quicker if they come by falling head. Requires numbers >= 0, and the
  // total work to fit.
  Ticks of(std::span<const Item> items, int64_t capacity);

 private:
  // Stands for a range of places, in which items are in the order of their tails.
  struct Node {
    int64_t work;  // of the range
    int64_t best;  // max over x in it of work(from x on, inside the range) + capacity * tail(x)
  };

  struct Key {
    Ticks time;
    int item;
  };

  void sort(std::span<const Item> items);
  void insert(size_t place, const Item& item, int64_t capacity);

  std::vector<Key> by_head_;   // falling
  std::vector<Key> by_tail_;   // rising
  std::vector<size_t> place_;  // of each item in by_tail_
  std::vector<Node> tree_;     // node i stands for its children 2i and 2i + 1
  size_t leaves_ = 1;
};

// The same over a grid, where every item has the least head of its row and the least tail of its
// column: never more than SubsetBound, and O(m) for many items.
Ticks coarse_subset_bound(std::span<const Item> items, int64_t capacity);

}  // namespace tutti::bound

#endif  // TUTTI_PLAN_BOUND_SUBSET_H_
