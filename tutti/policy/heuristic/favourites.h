// Favourite children: for each op at most one reader that should follow it on its device, so that
// the value need not travel, and each op the favourite of at most one producer. The policy m_sct
// keeps devices free for them; see tutti/policy/heuristic/m_sct.cc.
//
// Hanen and Munier (1995) choose them by a linear program, as if there were devices without end:
//
//   minimise w       where x(e) in [0, 1] for each edge is 0 if its reader is the favourite, and
//   start(reader)   >= start(producer) + run time(producer) + transfer time(e) x(e)
//   w               >= start(op) + run time(op)
//   sum of x over the edges from an op, and over the edges to an op,  >= their number - 1
//
// and round it. Times are means over devices and over pairs of different devices; of several values
// between the same two ops the slowest counts.

#ifndef TUTTI_POLICY_HEURISTIC_FAVOURITES_H_
#define TUTTI_POLICY_HEURISTIC_FAVOURITES_H_

#include <string>
#include <vector>

#include "tutti/base/stop.h"
#include "tutti/plan/problem.h"

namespace tutti {

struct Favourites {
  std::vector<OpId> of_op;  // invalid where there is none
  std::string method;       // a sentence for provenance: how they were chosen
};

// By the program, solved with CLP. An edge with x below 0.1, Baechi's threshold, leads to the
// favourite; the rows above leave at most one such edge to each op on either side. Where an op's
// readers are much alike the program gives each a share, and none is favourite.
//
// Many solutions may have the least w. Of those we take one that charges least transfer time in
// sum, giving up at most a ten-thousandth of the longest path; what is still tied is the solver's
// choice, the same in every run.
//
// Greedily instead if the build has no CLP, if more than kMostProgramEdges pairs of ops exchange
// values (about a quarter of a second), if the solver does not end within its steps, or if it would
// have to stop within half a second: CLP cannot be asked to.
inline constexpr int kMostProgramEdges = 1000;
Favourites favourite_children(const Problem& problem, const Stop& stop = {});

// Edges by the length of the longest path through them with all transfers charged, the longest
// first, as long as both ends are still unattached. Takes n log n steps.
std::vector<OpId> greedy_favourites(const Problem& problem);

}  // namespace tutti

#endif  // TUTTI_POLICY_HEURISTIC_FAVOURITES_H_
