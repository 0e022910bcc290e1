// What ops do to each other, learned from how long they took: collaborative filtering as in Paragon
// (Delimitrou, Kozyrakis; ASPLOS 2013). Each sort of neighbourhood has a matrix with a row and a
// column for each pair of op kind and device kind; an entry is how much longer, in logarithms, an
// op of the row takes next to one of the column. Few entries are ever seen. The matrix is a mean
// plus the product of two narrow ones, fitted to what was seen by stochastic gradient steps (the
// paper's PQ-reconstruction; its SVD only starts that), so that kinds that behave alike inform
// each other.
//
// A plain value: copy it to keep what was learned.

#ifndef TUTTI_POLICY_ONLINE_INTERFERENCE_H_
#define TUTTI_POLICY_ONLINE_INTERFERENCE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "tutti/plan/world/decider.h"

namespace tutti {

enum class Neighbourhood : uint8_t { core, device, host };  // the closest that two slots share
inline constexpr int kNeighbourhoods = 3;

struct Neighbour {
  Neighbourhood where = Neighbourhood::host;
  int32_t row = 0;
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

class Interference {
 public:
  explicit Interference(double learning_rate = 0.05) : learning_rate_(learning_rate) {}

  // Of a kind of op on a kind of device. The first use of each gives it a row.
  int32_t row(const Cluster& cluster, OpKindId kind, DeviceId device);

  // The logarithm of how many times longer `row` takes next to that neighbour.
  double effect(int32_t row, const Neighbour& neighbour) const;
  double effect(int32_t row, const std::vector<Neighbour>& neighbours) const;

  // An op of `row` took exp(`log_slowdown`) times as long as alone, next to these.
  void learn(int32_t row, const std::vector<Neighbour>& neighbours, double log_slowdown);

 private:
  static constexpr int kRank = 3;
  using Factors = std::array<double, kRank>;
  struct Matrix {
    double mean = 0;
    std::vector<Factors> victims;
    std::vector<Factors> culprits;
    std::vector<double> victim_bias;
    std::vector<double> culprit_bias;
  };

  double learning_rate_;
  std::vector<std::pair<std::string, std::string>> rows_;
  std::array<Matrix, kNeighbourhoods> matrices_;
};

// The ops that run next to a slot now.
void list_neighbours(const WorldState& state, int32_t slot, Interference& interference,
                     std::vector<Neighbour>& neighbours);

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_INTERFERENCE_H_
