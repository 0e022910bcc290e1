// Plans to run that a search on the simulator finds: the control for learning on the real machine,
// which has the same simulator, the same races and as many runs.

#ifndef TUTTI_CALIBRATE_SEARCH_PROPOSER_H_
#define TUTTI_CALIBRATE_SEARCH_PROPOSER_H_

#include "tutti/calibrate/real_search.h"

namespace tutti {

class SearchProposer : public Proposer {
 public:
  // Simulations for each plan that it proposes.
  explicit SearchProposer(int64_t evaluations = 1000, int threads = 1)
      : evaluations_(evaluations), threads_(threads) {}

  // Short searches that start from the best plan and differ in their seeds.
  std::vector<Plan> propose(const Problem& problem, const Plan& best, int count, Rng rng) override;
  void learn(const Problem& /*problem*/, std::span<const Plan> /*plans*/,
             std::span<const double> /*means_ns*/) override {}

 private:
  int64_t evaluations_;
  int threads_;
};

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_SEARCH_PROPOSER_H_
