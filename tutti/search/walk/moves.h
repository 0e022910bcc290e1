// Moves is the neighbourhood of a plan: random changes, small and large, of placement, order, and
// of which weights with homes are kept. It obeys pins, forbidden pairs and colocation; the
// simulator tells whether memory suffices.
//
// Large moves matter: if transfers are expensive, moving one of several connected ops is always a
// loss, and only all of them together can move. On large graphs there are too few simulations to
// move ops one by one: there every move takes a set of ops, large ones first (set_scale), as
// multilevel partitioners go from coarse levels to fine ones.

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
#include "tutti/search/walk/keep_moves.h"

namespace tutti {

// One object serves one thread.
class Moves {
 public:
  // Keeps a reference to the problem. Without `ordering`, priorities are left alone.
  Moves(const Problem& problem, bool ordering);

  // From now on half of the ops and devices are drawn from the guide, which must have looked at a
  // plan and must outlive this object. Null: none.
  void set_guide(const Guide* guide) { guide_ = guide; }

  // From now on a move takes up to so many connected ops of one device; at 1 (as at first) mostly
  // single ops.
  void set_scale(double ops) { scale_ = ops; }

  // Changes the plan, which must run: a proposal that did not must have been undone. `hot` are ops
  // worth changing, such as those on the critical path; it may be empty. False if the move that was
  // drawn changes nothing.
  bool propose(Plan& plan, std::span<const OpId> hot, Rng& rng);

  // Undoes the last proposal.
  void undo(Plan& plan) const;

 private:
  // Changes placement or order.
  bool propose_ops(Plan& plan, std::span<const OpId> hot, Rng& rng);
  // The same with sets of ops.
  bool propose_sets(Plan& plan, std::span<const OpId> hot, Rng& rng);
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
  void stage(Plan& plan, OpId op, Rng& rng);
  // Collects in picked_ the group of the op with some that it exchanges values with, or, without
  // groups, the ops whose turn is close to the op's.
  void pick_groups(OpId op, Rng& rng);
  void pick_turns(const Plan& plan, OpId op, Rng& rng);
  void reorder(Plan& plan, OpId op, Rng& rng);
  // A device that the picked set exchanges values with, other than its own; invalid if none is
  // found.
  DeviceId draw_device_beside(const Plan& plan, DeviceId own, Rng& rng) const;
  size_t draw_size(Rng& rng) const;  // of a set
  // Collects up to `size` connected ops around `op` in picked_, on its device only.
  void grow(const Plan& plan, OpId op, size_t size, Rng& rng);
  bool picked(OpId op) const { return picked_at_[op.index] == pick_; }
  void pick(OpId op);

  const Problem& problem_;
  bool ordering_;
  const Guide* guide_ = nullptr;
  KeepMoves keep_moves_;
  bool kept_changed_ = false;
  double scale_ = 1;
  Groups groups_;
  std::vector<int32_t> neighbour_begin_;
  std::vector<OpId> neighbours_;  // producers and readers
  std::vector<std::pair<OpId, DeviceId>> moved_;
  std::vector<std::pair<OpId, int64_t>> reordered_;
  std::vector<OpId> picked_;
  std::vector<int32_t> picked_at_;  // by op: == pick_ if picked
  int32_t pick_ = 0;
  std::vector<OpId> turns_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_MOVES_H_
