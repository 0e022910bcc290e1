// Critical path list scheduling: of the ready ops the one with the longest path to the end of the
// graph (b-level, transfers always charged), on the device where it can start earliest. Ties are
// broken at random. This is the CRITICAL PATH baseline and teacher of Doppler (Yao et al. 2025),
// done correctly; what was released under that name is in
// studies/doppler/released/critical_path_released.h.

#include <vector>

#include "tutti/base/random.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/ranks.h"

namespace tutti {
namespace {

// Keeps one of several equally good candidates, each with the same probability.
template <class Candidate>
class FairChoice {
 public:
  explicit FairChoice(Rng& rng) : rng_(rng) {}
  void tie(Candidate candidate) {
    if (rng_.below(++count_) == 0) chosen_ = candidate;
  }
  void better(Candidate candidate) {
    count_ = 1;
    chosen_ = candidate;
  }
  Candidate chosen() const { return chosen_; }

 private:
  Rng& rng_;
  uint64_t count_ = 0;
  Candidate chosen_{};
};

class LongestWay : public Select {
 public:
  LongestWay(std::vector<double> rank, Rng rng) : rank_(std::move(rank)), rng_(rng) {}

  std::optional<OpId> select(const State& state) override {
    FairChoice<OpId> choice(rng_);
    double best = -1;
    for (const OpId op : state.ready()) {
      const double rank = rank_[op.index];
      if (rank > best) {
        best = rank;
        choice.better(op);
      } else if (rank == best) {
        choice.tie(op);
      }
    }
    return choice.chosen();
  }

 private:
  std::vector<double> rank_;
  Rng rng_;
};

class EarliestStart : public Place {
 public:
  explicit EarliestStart(Rng rng) : rng_(rng) {}

  DeviceId place(const State& state, OpId op) override {
    FairChoice<DeviceId> choice(rng_);
    Duration best = kNever;
    for (const DeviceId device : state.devices_for(op)) {
      const Duration start = state.earliest_start(op, device);
      if (start < best) {
        best = start;
        choice.better(device);
      } else if (start == best) {
        choice.tie(device);
      }
    }
    return choice.chosen();
  }

 private:
  Rng rng_;
};

}  // namespace

Policy critical_path_policy(const Problem& problem, uint64_t seed) {
  const Rng rng(seed);
  return {
      std::make_unique<LongestWay>(upward_ranks(problem, EdgeWeight::distinct_pairs), rng.split(0)),
      std::make_unique<EarliestStart>(rng.split(1))};
}

}  // namespace tutti
