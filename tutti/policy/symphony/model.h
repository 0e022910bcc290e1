// A SymphonyModel is a trained net with all that it needs on one cluster: the topology, the
// counters, the belief's learned constants. Immutable; any number of policy states may use it.
//
// A SymphonyPolicyState makes the decisions of one run: it holds the memory of the LSTM and the
// encodings of the jobs in the system. Not for several threads at once.

#ifndef TUTTI_POLICY_SYMPHONY_MODEL_H_
#define TUTTI_POLICY_SYMPHONY_MODEL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tutti/policy/nn/choice.h"
#include "tutti/policy/symphony/net.h"
#include "tutti/policy/symphony/observer.h"

namespace tutti {

// The constants of a policy's belief before training.
std::vector<double> first_constants(const Network& network);

class SymphonyModel {
 public:
  // Fails (invalid_input) unless the file is a complete model for such a machine and such counters.
  // The cluster must outlive it.
  static Result<std::shared_ptr<const SymphonyModel>> load(const TensorFile& file,
                                                           const std::string& path,
                                                           const Cluster& cluster,
                                                           std::vector<Counter> counters);
  // Before any training. Fills in what the shape must know of the machine.
  static TensorFile fresh(SymphonyShape shape, const Cluster& cluster,
                          const std::vector<Counter>& counters, uint64_t seed);

  const Cluster& cluster() const { return cluster_; }
  const Topology& topology() const { return topology_; }
  const Observer& observer() const { return observer_; }
  const SymphonyNet& network() const { return network_; }
  const std::vector<double>& constants() const { return constants_; }  // raw; empty: no belief

 private:
  SymphonyModel(const Cluster& cluster, std::vector<Counter> counters, SymphonyNet network)
      : cluster_(cluster),
        topology_(cluster),
        observer_(cluster, topology_, std::move(counters), network.shape()),
        network_(std::move(network)) {}

  const Cluster& cluster_;
  Topology topology_;
  Observer observer_;
  SymphonyNet network_;
  std::vector<double> constants_;
};

// A decision with the scores of its actions: training keeps it.
struct ScoredDecision {
  DecisionFeatures features;
  Observation observation;  // what the belief was drawn from, and with which seed
  uint64_t seed = 0;
  SymphonyMemory before;      // of the LSTM
  std::vector<float> scores;  // by action
  float value = 0;

  // The first of those with the highest score.
  const Action& best_action() const { return features.actions[most_likely(scores)]; }
};

struct SymphonyOptions {
  uint64_t seed = 1;
  // Decisions that use one encoding of the machine: counters, belief and topology.
  int batch = 1;
  Truth truth{};  // for a model of InformationLevel::truth
};

class SymphonyPolicyState {
 public:
  SymphonyPolicyState(std::shared_ptr<const SymphonyModel> model, SymphonyOptions options);

  // Requires can_act(state). What it returns stays until the next call.
  const ScoredDecision& score(const WorldState& state);
  // An action drawn with the probabilities of the scores, and the logarithm of its probability.
  static std::pair<size_t, float> drawn(const std::vector<float>& scores, Rng& rng);

  // Of a job in the system.
  const JobRows& rows(const JobStatus& job) { return maker_.rows(job); }

 private:
  void remember_others();

  std::shared_ptr<const SymphonyModel> model_;
  SymphonyOptions options_;
  SymphonyNet network_;  // with a workspace of its own
  FeatureMaker maker_;
  std::map<int32_t, JobEncoding> encodings_;  // by JobId
  SymphonyMemory memory_;
  MachineEncoding machine_;
  std::vector<float> others_;             // by vertex: what others are known to draw
  std::vector<float> unseen_;             // by vertex: how much of that no counter shows yet
  std::vector<float> own_before_;         // of the last look
  std::vector<const JobEncoding*> jobs_;  // in the system
  std::vector<int32_t> job_of_;           // by op of the features: its place in jobs_
  ScoredDecision now_;
  int64_t decisions_ = 0;
  int64_t epoch_ = -1;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_MODEL_H_
