#include "tutti/plan/bound/game.h"

#include <algorithm>
#include <cstddef>

namespace tutti::bound {
namespace {

constexpr double kTiny = 1e-12;

// The simplex method on  max sum_j u_j  where  sum_j rows[j][c] u_j <= 1  for every column c. With
// all u = 0 it starts from a feasible basis, and in the end the prices of the columns, scaled to
// add up to 1, are the shares of the game.
class Simplex {
 public:
  explicit Simplex(const std::vector<std::vector<double>>& rows)
      : columns_(rows.front().size()), variables_(rows.size()) {
    table_.assign(columns_ + 1, std::vector<double>(variables_ + columns_ + 1, 0.0));
    for (size_t c = 0; c < columns_; ++c) {
      for (size_t j = 0; j < variables_; ++j) table_[c][j] = rows[j][c];
      table_[c][variables_ + c] = 1;  // slack
      table_[c].back() = 1;           // right side
    }
    std::fill_n(objective().begin(), variables_, -1.0);
  }

  std::vector<double> prices() && {
    for (size_t step = 0; step < 50 * (columns_ + variables_) && improve(); ++step) {
    }
    return {objective().end() - 1 - static_cast<ptrdiff_t>(columns_), objective().end() - 1};
  }

 private:
  std::vector<double>& objective() { return table_.back(); }

  // False if nothing improves any more.
  bool improve() {
    const auto most = std::min_element(objective().begin(), objective().end() - 1);
    if (*most > -kTiny) return false;
    const auto entering = static_cast<size_t>(most - objective().begin());
    size_t leaving = columns_;  // none
    for (size_t c = 0; c < columns_; ++c) {
      if (table_[c][entering] <= kTiny) continue;
      if (leaving == columns_ || table_[c].back() * table_[leaving][entering] <
                                     table_[leaving].back() * table_[c][entering]) {
        leaving = c;
      }
    }
    if (leaving == columns_) return false;
    pivot(leaving, entering);
    return true;
  }

  void pivot(size_t row, size_t column) {
    const double divisor = table_[row][column];
    for (double& x : table_[row]) x /= divisor;
    for (size_t other = 0; other <= columns_; ++other) {
      const double factor = table_[other][column];
      if (other == row || factor == 0) continue;
      for (size_t i = 0; i < table_[row].size(); ++i) table_[other][i] -= factor * table_[row][i];
    }
  }

  size_t columns_;
  size_t variables_;
  std::vector<std::vector<double>> table_;  // one row for each column of the game, then the aim
};

}  // namespace

GameSolution solve_game(const std::vector<std::vector<double>>& rows) {
  GameSolution solution{.shares = Simplex(rows).prices()};
  double sum = 0;
  for (double& share : solution.shares) {
    share = std::max(share, 0.0);
    sum += share;
  }
  if (sum <= 0) return solution;
  for (double& share : solution.shares) share /= sum;
  solution.value = 1 / sum;
  return solution;
}

}  // namespace tutti::bound
