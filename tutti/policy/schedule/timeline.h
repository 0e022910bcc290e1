// A Timeline is the busy time of one slot, with the idle gaps before its end kept so that an op can
// be inserted into one ("insertion" in HEFT).
//
// Gaps are kept by start in blocks, each with its longest gap, so that looking for one and filling
// it stay cheap however many there are.

#ifndef TUTTI_POLICY_SCHEDULE_TIMELINE_H_
#define TUTTI_POLICY_SCHEDULE_TIMELINE_H_

#include <vector>

#include "tutti/base/time.h"

namespace tutti {

class Timeline {
 public:
  // The earliest start at or after `ready` of something that lasts `length`.
  Duration earliest_start(Duration ready, Duration length) const;

  // Requires a start that earliest_start returned for that length, with nothing added since.
  void add(Duration start, Duration length);

  // For what need not be done in one piece: when `amount` of idle time from `ready` on has been
  // used up, and the same with that time taken.
  Duration end_of_fill(Duration ready, Duration amount) const;
  void fill(Duration ready, Duration amount);

  // When the last thing ends.
  Duration end() const { return end_; }

 private:
  struct Gap {
    Duration start;
    Duration finish;
  };
  struct Block {
    std::vector<Gap> gaps;  // by ascending start; they do not overlap
    Duration longest{0};
    Duration finish{0};  // of the last gap
  };

  // Calls piece(start, length) for each idle stretch that a fill takes, in order; returns its end.
  template <class Piece>
  Duration for_pieces(Duration ready, Duration amount, Piece piece) const;

  void refresh(Block& block);
  void insert(Gap gap);

  std::vector<Block> blocks_;
  Duration end_{0};
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_TIMELINE_H_
