// Symphony's net (Banerjee et al. 2020, Fig. 3): a graph network over the machine's topology
// and what is known of it, one over each job's graph, an LSTM from decision to decision, an actor
// that scores actions, and a critic.
//
// Departs from the paper: its actor has an output for every pair of kernel and processor; ours
// scores each action from the embeddings of its op and device, what the pair would take, and the
// LSTM's memory, so that any number of ops and devices will do. With `prior` scores start from
// those of a rule: an op's rank, less how much later it would end there than where it would end
// first, less how much slower than alone it would go.
//
// For each option the net also computes the slowdown by contention: on the worst of the resources
// that the op draws on, by own ops and by the estimated load of others (use less own). The belief
// gets its slopes from there and from the topology.
//
// Inference; tutti/train/torch/symphony_learner.cc is the same with gradients.

#ifndef TUTTI_POLICY_SYMPHONY_NET_H_
#define TUTTI_POLICY_SYMPHONY_NET_H_

#include <array>
#include <span>
#include <vector>

#include "tutti/policy/symphony/decision_features.h"
#include "tutti/policy/symphony/graph_net.h"
#include "tutti/policy/symphony/shape.h"

namespace tutti {

inline constexpr int kVertexRow = kVertexFacts + kVertexStatus + kVertexSeen;
inline constexpr int kMemory = 64;  // of the LSTM
inline constexpr int kHead = 32;    // of actor and critic
inline constexpr int kSecondHead = 16;
inline constexpr int kMemoryInput = 2 * kEmbedding + kOverall;
// Of an option: its row, and crowd by own ops and by all, spread of the latter, lateness.
inline constexpr int kFullOptionRow = kOptionRow + 4;
inline constexpr int kCrowdColumn = kOptionRow + 1;
inline constexpr int kRestRow = 2;  // of doing nothing: lateness of the best execution; slots used
inline constexpr int kCounterWidth = 64;  // of the layers for InformationLevel::counters
// The rule's weights: of lateness, rank, age, a reconfiguration's gain; the scores of reconfiguring
// and of doing nothing; the weight of crowding. All together they say how even the odds are that
// training begins with: a third of them is the same rule, but actions drawn with such odds are
// often far from the best ones, and training learns little about those.
inline constexpr std::array<float, 7> kFirstPrior = {18.0F, 1.5F, 6.0F, 3.0F, -6.0F, -12.0F, 1.5F};
enum PriorWeight {
  kLateWeight,
  kRankWeight,
  kAgeWeight,
  kGainWeight,
  kChangeScore,
  kRestScore,
  kCrowdWeight
};
// Lateness counts up to this.
inline constexpr float kMostLate = 4;

struct JobEncoding {
  std::vector<float> ops;  // ops x kEmbedding
  std::array<float, kEmbedding> whole{};
};

// The LSTM's; zeros before the first decision.
struct SymphonyMemory {
  std::array<float, kMemory> hidden{};
  std::array<float, kMemory> cell{};
};

// The encoding of the machine.
struct MachineEncoding {
  std::vector<float> devices;  // devices x kEmbedding
  std::array<float, kEmbedding> whole{};
};

class SymphonyNet {
 public:
  // Fails (invalid_input) unless the file holds all tensors of the shape in its metadata.
  static Result<SymphonyNet> load(const TensorFile& file, const std::string& path);
  // Before any training: seeded; without `prior`, nearly even odds.
  static TensorFile fresh(const SymphonyShape& shape, uint64_t seed);

  const SymphonyShape& shape() const { return shape_; }

  JobEncoding encode(const JobRows& job) const;
  void look(const Topology& topology, const DecisionFeatures& features, MachineEncoding& made);

  // Scores of the features's actions, by their order; returns the critic's value and moves the
  // memory on. `jobs` are those of features.jobs; `job_of` is the place among them of the job of
  // each of features.ops.
  float decide(const DecisionFeatures& features, const MachineEncoding& machine,
               std::span<const JobEncoding* const> jobs, std::span<const int32_t> job_of,
               SymphonyMemory& memory, std::vector<float>& scores);

 private:
  void remember(const DecisionFeatures& features, const MachineEncoding& machine,
                std::span<const JobEncoding* const> jobs, SymphonyMemory& memory);
  void fill_option_rows(const DecisionFeatures& features);
  void score_executions(const DecisionFeatures& features, const MachineEncoding& machine,
                        std::span<const JobEncoding* const> jobs, std::span<const int32_t> job_of,
                        const float* memory, float* scores);
  void score_reconfigurations(const DecisionFeatures& features, const MachineEncoding& machine,
                              const float* memory, float* scores);
  float rest_score(const DecisionFeatures& features, const float* memory) const;
  float value(const float* memory) const;

  SymphonyShape shape_;
  GraphNet topology_;
  GraphNet job_;
  Dense counters_first_, counters_second_, counters_third_, device_row_;
  Dense memory_input_, memory_hidden_;
  Dense option_op_, option_device_, option_memory_, option_row_, option_second_, option_last_;
  Dense change_device_, change_memory_, change_row_, change_last_;
  Dense rest_memory_, rest_row_, rest_last_;
  Dense value_first_, value_last_;
  std::array<float, kFirstPrior.size()> prior_{};
  // Workspace: a network serves one thread; copies are cheap enough.
  std::vector<float> workspace_;
  std::vector<float> rows_;
  std::vector<float> option_rows_;
  std::vector<float> lateness_;  // by option
  std::vector<float> least_;     // by op: of the lateness of its options
  std::vector<float> hidden_;
  std::vector<float> of_ops_;
  std::vector<float> of_devices_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_NET_H_
