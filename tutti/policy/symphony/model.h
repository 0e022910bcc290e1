// A SymphonyModel is a trained network with all that it needs on one cluster: the topology, the
// counters there are, the belief's learnt constants. Immutable; any number of minds may use it.
//
// A SymphonyMind decides in one run: it remembers from decision to decision and keeps what it made
// of jobs that are in the system. Not for several threads at once.

#ifndef TUTTI_POLICY_SYMPHONY_MODEL_H_
#define TUTTI_POLICY_SYMPHONY_MODEL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tutti/policy/symphony/network.h"
#include "tutti/policy/symphony/observer.h"

namespace tutti {

// The constants that a policy's belief has before it has learned.
std::vector<double> first_constants(const Network& network);

class SymphonyModel {
 public:
  // Fails (invalid_input) unless the file is a whole model for such a machine and such counters.
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
  const SymphonyNetwork& network() const { return network_; }
  const std::vector<double>& constants() const { return constants_; }  // raw; empty: no belief

 private:
  SymphonyModel(const Cluster& cluster, std::vector<Counter> counters, SymphonyNetwork network)
      : cluster_(cluster),
        topology_(cluster),
        observer_(cluster, topology_, std::move(counters), network.shape()),
        network_(std::move(network)) {}

  const Cluster& cluster_;
  Topology topology_;
  Observer observer_;
  SymphonyNetwork network_;
  std::vector<double> constants_;
};

// A decision as it is considered: training keeps it.
struct Consideration {
  Sight sight;
  Observation observation;  // what the belief was drawn from, and with which seed
  uint64_t seed = 0;
  SymphonyMemory before;      // of the LSTM
  std::vector<float> scores;  // by action
  float value = 0;
};

struct MindOptions {
  uint64_t seed = 1;
  // Decisions that go by one look at the machine: counters, belief and topology network.
  int batch = 1;
  Truth truth{};  // for a model that is told everything
};

class SymphonyMind {
 public:
  SymphonyMind(std::shared_ptr<const SymphonyModel> model, MindOptions options);

  // Requires can_act(state). What it returns stays until the next call.
  const Consideration& consider(const ClusterState& state);
  // The first of the best actions.
  static size_t best(const std::vector<float>& scores);
  // One by the odds that the scores stand for, and the logarithm of its odds.
  static std::pair<size_t, float> drawn(const std::vector<float>& scores, Rng& rng);

  // Of a job in the system that was considered.
  const JobRows& rows(const JobStatus& job) { return maker_.rows(job); }

 private:
  void remember_others();

  std::shared_ptr<const SymphonyModel> model_;
  MindOptions options_;
  SymphonyNetwork network_;  // with a workspace of its own
  SightMaker maker_;
  std::map<int32_t, JobEncoding> encodings_;  // by JobId
  SymphonyMemory memory_;
  MachineEncoding machine_;
  std::vector<float> others_;  // by vertex: what others are known to draw
  std::vector<float> unseen_;  // by vertex: how much of that does not show now
  Consideration now_;
  int64_t decisions_ = 0;
  int64_t epoch_ = -1;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_MODEL_H_
