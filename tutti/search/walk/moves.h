// Moves is the neighbourhood of a plan: random changes, small and large, of placement and order. It
// obeys pins, forbidden pairs and colocation; the simulator tells whether memory suffices.
//
// Large moves matter: if transfers are expensive, moving one of several connected ops is always a
// loss, and only all of them together can move.

#ifndef TUTTI_SEARCH_WALK_MOVES_H_
#define TUTTI_SEARCH_WALK_MOVES_H_

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/graph/groups.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/search/walk/guide.h"

namespace tutti {

// One object serves one thread.
class Moves {
 public:
  // Keeps a reference to the problem. Without `ordering`, priorities are left alone.
  Moves(const Problem& problem, bool ordering);

  // From now on half of the ops and devices are drawn from the guide, which must have looked at a
  // plan and must outlive this object. Null: none.
  void set_guide(const Guide* guide) { guide_ = guide; }

  // Changes the plan. `hot` are ops worth changing, such as those on the critical path; it may be
  // empty. False if the move that was drawn changes nothing.
  bool propose(Plan& plan, std::span<const OpId> hot, Rng& rng);

  // Undoes the last proposal.
  void undo(Plan& plan) const;

 private:
  OpId draw_op(std::span<const OpId> hot, Rng& rng) const;
  // A device that the op may use, other than its own; invalid if there is none.
  DeviceId draw_other_device(const Plan& plan, OpId op, Rng& rng) const;
  std::span<const OpId> neighbours(OpId op) const {
    return {neighbours_.data() + neighbour_begin_[op.index],
            static_cast<size_t>(neighbour_begin_[op.index + 1] - neighbour_begin_[op.index])};
  }
  // Moves the op with its whole colocation group; does nothing if the op may not go there.
  void move(Plan& plan, OpId op, DeviceId device);

  void to_neighbour(Plan& plan, OpId op, Rng& rng);
  void chain(Plan& plan, OpId op, Rng& rng);
  void connected_ops(Plan& plan, OpId op, Rng& rng);
  void swap(Plan& plan, OpId op, Rng& rng);
  void exchange_devices_behind(Plan& plan, OpId op, Rng& rng);
  void group(Plan& plan, OpId op, Rng& rng);
  void reorder(Plan& plan, OpId op, Rng& rng);
  // Collects up to `size` connected ops around `op` in picked_, on its device only.
  void grow(const Plan& plan, OpId op, size_t size, Rng& rng);
  bool picked(OpId op) const { return picked_at_[op.index] == pick_; }
  void pick(OpId op);

  const Problem& problem_;
  bool ordering_;
  const Guide* guide_ = nullptr;
  Groups groups_;
  std::vector<int32_t> neighbour_begin_;
  std::vector<OpId> neighbours_;  // producers and readers
  std::vector<std::pair<OpId, DeviceId>> moved_;
  std::vector<std::pair<OpId, int64_t>> reordered_;
  std::vector<OpId> picked_;
  std::vector<int32_t> picked_at_;  // by op: == pick_ if picked
  int32_t pick_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_MOVES_H_
