// Paragon (Delimitrou, Kozyrakis; ASPLOS 2013): ops go where they are quick, suffer least from
// their neighbours and hurt them least. What ops do to each other is learned by collaborative
// filtering from how long they took (interference.h).
//
// Departs: speeds are in the costs that every decider here sees, so that only interference is
// learned; it is learned from jobs as they run, and from earlier runs if it starts with what they
// left, not from a minute's profile of each new application.

#ifndef TUTTI_POLICY_ONLINE_PARAGON_H_
#define TUTTI_POLICY_ONLINE_PARAGON_H_

#include <vector>

#include "tutti/policy/online/interference.h"
#include "tutti/policy/online/openings.h"

namespace tutti {

struct ParagonOptions {
  double learning_rate = 0.05;
  double care = 1;  // weight of a neighbour's slowdown, relative to the op's own
  double patience = 3;
};

class Paragon final : public PlacingDecider {
 public:
  // Every run begins with what `known` holds.
  explicit Paragon(const ParagonOptions& options)
      : Paragon(options, Interference(options.learning_rate)) {}
  Paragon(const ParagonOptions& options, Interference known)
      : options_(options), known_(std::move(known)), learned_(known_) {}

  // What it knows after a run.
  const Interference& learned() const { return learned_; }

 protected:
  void on_begin(const Cluster& cluster, uint64_t seed) override;
  void on_epoch(const WorldState& state) override;
  std::optional<Choice> choose(const WorldState& state) override;
  void on_launch(const WorldState& state, const Choice& choice) override;

 private:
  double cost(const WorldState& state, const JobStatus& job, OpId op, const Opening& opening);

  struct Launch {
    JobId job{};
    OpId op{};
    std::vector<Neighbour> neighbours{};
  };

  ParagonOptions options_;
  Interference known_;
  Interference learned_;
  std::vector<Launch> launches_;  // of ops that have not ended: the neighbours at that time
  std::vector<Neighbour> neighbours_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_PARAGON_H_
