// The transportation problem: items to places of limited capacity at the least total cost. The
// assignment problem is the case of one item to a place. Solved by successive shortest paths
// (Ford, Fulkerson 1962; the Hungarian method is the same idea): items come one by one, and each
// may push others on from place to place. Optimal for the costs given.

#ifndef TUTTI_POLICY_PLACES_TRANSPORT_H_
#define TUTTI_POLICY_PLACES_TRANSPORT_H_

#include <cstdint>
#include <vector>

namespace tutti {

// The place of each item. `cost` is by item x place. Requires that the places hold all items.
// Takes about items x places^2 x log(items) steps.
std::vector<int> transport(const std::vector<int64_t>& cost, const std::vector<int>& capacity);

}  // namespace tutti

#endif  // TUTTI_POLICY_PLACES_TRANSPORT_H_
