// Graphene (Grandl, Kandula, Rao, Akella, Kulkarni; OSDI 2016): troublesome ops first. Before a job
// starts, its ops that are long or hard to pack, with all that lies between them, are put into a
// virtual schedule first, and the others around them: ancestors before, descendants behind, the
// rest where there is room. Several thresholds and orders are tried; the shortest schedule's start
// times become the job's order. During the run a free device takes the op with the highest
//
//   order in its job + packing * (what it draws . what is free) - remaining * (work its job has
//   left)
//
// Departs: devices differ, so that the virtual schedule has the slots of this cluster and an op
// goes where it ends first (or, placed backwards, begins last); hard to pack means a large share of
// some resource; the paper's bound on unfairness between queues is left out; patience is that of
// fifo.h.

#ifndef TUTTI_POLICY_ONLINE_GRAPHENE_H_
#define TUTTI_POLICY_ONLINE_GRAPHENE_H_

#include <map>
#include <vector>

#include "tutti/policy/online/openings.h"

namespace tutti {

// By op: 1 for the op that goes first, falling to 0 for the last.
std::vector<double> graphene_order(const Cluster& cluster, const Job& job);

struct GrapheneOptions {
  double packing = 0.5;
  double remaining = 0.5;
  double patience = 3;
};

class Graphene final : public PlacingDecider {
 public:
  explicit Graphene(const GrapheneOptions& options) : options_(options) {}

 protected:
  void on_begin(const Cluster& cluster, uint64_t seed) override;
  std::optional<Choice> choose(const WorldState& state) override;

 private:
  const std::vector<double>& order(const Cluster& cluster, const std::shared_ptr<const Job>& job);
  void find_free(const WorldState& state);
  // Shares of resources, drawn and free, multiplied and summed.
  double packing(const WorldState& state, OpKindId kind, const Opening& opening) const;

  GrapheneOptions options_;
  std::map<std::shared_ptr<const Job>, std::vector<double>> orders_;
  std::vector<double> free_;  // by resource: share that no known op draws
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_GRAPHENE_H_
