// A matrix game: the one linear program that the load bound needs.

#ifndef TUTTI_PLAN_BOUND_GAME_H_
#define TUTTI_PLAN_BOUND_GAME_H_

#include <vector>

namespace tutti::bound {

struct GameSolution {
  std::vector<double> shares;  // >= 0, together 1
  double value = 0;            // min over rows of row . shares
};

// The shares of the columns that make the least of all row . shares as large as can be. Requires at
// least one row, rows of one length, and numbers >= 0 of about 1. Rounding is not guarded against.
GameSolution solve_game(const std::vector<std::vector<double>>& rows);

}  // namespace tutti::bound

#endif  // TUTTI_PLAN_BOUND_GAME_H_
