// The load bound: all work, divided over unequal devices as well as can be, even within an op.
//
// That is a linear program: find the least T and the parts x of each op i on each class c of
// devices, such that every op is done and no class has more to do than its slots can do in T. Any
// prices y_c >= 0 of a slot's time prove a bound (weak duality):
//
//   T * sum_c slots_c y_c  >=  sum_c y_c load_c  >=  sum_i min_c run_ic y_c.
//
// Prices are looked for in floating point, but what they prove is worked out in whole numbers.

#ifndef TUTTI_PLAN_BOUND_LOAD_H_
#define TUTTI_PLAN_BOUND_LOAD_H_

#include <cstdint>
#include <vector>

#include "tutti/plan/bound/instance.h"

namespace tutti::bound {

using Prices = std::vector<int64_t>;  // by class, >= 0 and not all 0

// What an op costs where it is cheapest.
struct Cheapest {
  size_t kind;  // the class
  Wide price;
};
Cheapest cheapest(const Instance& instance, OpId op, const Prices& prices);

struct Load {
  Ticks bound = 0;
  // The same before it is rounded up to whole ticks, in ns. Many runs share the remainder.
  Duration per_pass{0};
  // The part of all capacity that each class stands for under the best prices: slots_c y_c, scaled
  // to add up to 1.
  std::vector<double> shares;
};

// Ends within a millionth of the linear program, or a ten-thousandth for large graphs, or where too
// much time has gone into it. Requires at least one op.
Load load_bound(const Instance& instance);

// Prices in proportion to share / slots, the highest about `highest`.
Prices prices_of(const Instance& instance, const std::vector<double>& shares, int64_t highest);

}  // namespace tutti::bound

#endif  // TUTTI_PLAN_BOUND_LOAD_H_
