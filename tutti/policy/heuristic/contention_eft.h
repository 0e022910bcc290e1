// Contention-aware earliest finish: ops by descending upward rank as in HEFT (Topcuoglu, Hariri, Wu
// 2002), each on the device that finishes it first when its transfers must queue for their links
// behind those booked before, as in Sinnen and Sousa (TPDS 2005). A value travels once to each
// memory. Equal ranks and equal finishes are decided by the seed.
//
// On machines with narrow links this is worth a factor over HEFT, whose estimate lets all
// transfers go at once.

#ifndef TUTTI_POLICY_HEURISTIC_CONTENTION_EFT_H_
#define TUTTI_POLICY_HEURISTIC_CONTENTION_EFT_H_

#include <optional>
#include <vector>

#include "tutti/plan/policy.h"
#include "tutti/policy/places/subsets.h"

namespace tutti {

struct ContentionEftOptions {
  std::optional<uint64_t> seed{};  // none: ties go to the smallest id
  const std::vector<double>* keys =
      nullptr;                   // order of placement, the largest first; none: upward ranks
  const Teams* teams = nullptr;  // none: every op may use all its devices
  Stop stop{};
};

// Obeys memory as plan_with_room does (tight_memory.h), whose last resort knows no teams. Fails
// (infeasible) if that finds no room.
Result<Plan> contention_eft(const Problem& problem, const ContentionEftOptions& options);

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_CONTENTION_EFT_H_
