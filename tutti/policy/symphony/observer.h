// An Observer fills in what DecisionFeatures hold of the use of shared resources, according to the
// InformationLevel: nothing, counters, a belief from them, or the truth. The levels differ in
// nothing else.
//
// Immutable: any number of threads may use it.

#ifndef TUTTI_POLICY_SYMPHONY_OBSERVER_H_
#define TUTTI_POLICY_SYMPHONY_OBSERVER_H_

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "tutti/belief/belief.h"
#include "tutti/policy/symphony/decision_features.h"
#include "tutti/policy/symphony/shape.h"

namespace tutti {

// The use of a resource as a simulator knows it.
using Truth = std::function<double(const Resource& resource)>;

class Observer {
 public:
  Observer(const Cluster& cluster, const Topology& topology, std::vector<Counter> counters,
           const SymphonyShape& shape);

  const std::vector<Counter>& counters() const { return counters_; }
  // None unless the level is belief.
  const Belief* belief() const { return belief_.get(); }

  // The current readings and launches, as a belief takes them.
  Observation observation(const WorldState& state) const;

  // Fills in `seen` and `counters`, and adds to `own_before` what only a belief knows.
  // `constants` are the belief's, raw; `truth` is called only if the level is truth.
  void observe(const Observation& observation, std::span<const double> constants, uint64_t seed,
               const Truth& truth, DecisionFeatures& features) const;

  // The columns use and spread of `seen` from a belief. Requires one.
  Inferred believe(const Observation& observation, std::span<const double> constants, uint64_t seed,
                   float* seen) const;
  // From slopes of a loss by `seen` (V x kVertexSeen) to slopes by the belief's constants.
  std::vector<double> backward(const Inferred& inferred, const float* slopes,
                               GradientKind kind) const;

 private:
  void read_counters(const Observation& observation, DecisionFeatures& features) const;
  void add_launched(const Observation& observation, DecisionFeatures& features) const;

  SymphonyShape shape_;
  std::vector<Counter> counters_;
  std::vector<int> vertex_;   // by counter; -1: about nothing here
  std::vector<double> unit_;  // by counter
  std::vector<float> share_;  // by counter: what it counts for among those of its vertex and kind
  int vertices_ = 0;
  std::vector<Resource> resources_;  // by vertex
  std::unique_ptr<Belief> belief_;
  std::vector<int> believed_;  // by resource of the belief: its vertex; -1: none
  std::map<Resource, int> vertex_of_;
  std::map<Resource, std::vector<int>> cores_;  // of a CPU
  std::vector<double> capacities_;              // by vertex
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_OBSERVER_H_
