// KeepMoves changes which weights with homes a plan keeps (tutti/plan/weights.h), and keeps that in
// step with ops that move. Bytes that kept weights and stream buffer took together in a plan that
// ran are taken to have room again; the simulator tells whether more fits.

#ifndef TUTTI_SEARCH_WALK_KEEP_MOVES_H_
#define TUTTI_SEARCH_WALK_KEEP_MOVES_H_

#include <cstdint>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"

namespace tutti {

// One object serves one thread.
class KeepMoves {
 public:
  // Keeps a reference to the problem.
  explicit KeepMoves(const Problem& problem);

  // A plan that runs, and states a keeping. Changes of it are undone to this.
  void begin(const Plan& plan);
  // One change: a kept weight for another, one more or one fewer, a buffer for one to four ops.
  // False if it changes nothing.
  bool propose(Plan& plan, Rng& rng);
  // After ops have moved: weights that are not read any more are dropped, the buffer holds any op's
  // streamed weights, and room that is left is used for weights that were streamed.
  void repair(Plan& plan, Rng& rng);
  void undo(Plan& plan) const { plan.weights = before_; }

 private:
  void exchange(Plan& plan, size_t memory, Rng& rng);
  void resize_buffer(Plan& plan, size_t memory, Rng& rng);
  void find_read(const Plan& plan);
  void settle(Plan& plan, size_t memory, int64_t budget, Rng& rng);
  int64_t bytes_kept(const Plan& plan, size_t memory) const;
  // The weights that are read there and not kept, in random order.
  std::vector<ValueId> streamed(const Plan& plan, size_t memory, Rng& rng) const;

  const Problem& problem_;
  std::vector<int64_t> budget_;             // by memory: for kept weights and buffer
  std::vector<int64_t> most_;               // no plan can have more
  std::vector<std::vector<ValueId>> read_;  // by memory
  WeightKeeping before_;
};

}  // namespace tutti

#endif  // TUTTI_SEARCH_WALK_KEEP_MOVES_H_
