// The greedy locator of the Einsummable engine (Bourgeois et al.; its `alocate01`, as Doppler's
// authors run it). It goes through a sharded graph group by group (graph/groups.h) and block by
// block, where a block is a sum and the partial products that only it reads, and looks for the
// sites of the products and of their sum that keep the cost of the group's dearest site least. A
// site's cost is the flops done there for this group plus 1000 flops for each byte brought there;
// moving a partial product costs its sender as much as its receiver. Graph inputs are free
// everywhere, and so is what an earlier op has brought to the site.
//
// The ways to aggregate: sites stand in a row in aligned ranges, as wide as there are products (or
// sites), half as wide, and so on down to one site; the products are dealt in turn to the sites of
// one range and summed at one of them. That is at most sites x (1 + log2(products)) ways for a
// block, so all are tried. Other ops are blocks of one product and no sum.
//
// Departures. The engine wants powers of two; we round halves down and cut the last range short.
// It adds up what lies at one site before it sends the sum; here every partial product is an op's
// result and moves by itself, and the sum is an op that has flops too. It takes the first of equal
// ways; we take the one that moves least, then the one whose last op's site costs least. Its sites
// are equal; here a flop counts as many times as the device is slower than the fastest for that op.
// Where some op has no flops (times were measured), run and transfer times take the place of flops
// and bytes. Blocks that constraints do not let go anywhere in any range are placed op by op, and
// in a graph without groups all ops are, as one group. It deals out inputs in turn, which is not a
// plan's to say here.

#ifndef TUTTI_POLICY_HEURISTIC_GREEDY_LOCATOR_H_
#define TUTTI_POLICY_HEURISTIC_GREEDY_LOCATOR_H_

#include "tutti/plan/policy.h"

namespace tutti {

class GreedyLocator : public Planner {
 public:
  Result<Plan> plan(const Problem& problem, const Budget& budget, uint64_t seed) override;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_GREEDY_LOCATOR_H_
