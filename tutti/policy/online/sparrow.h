// Sparrow (Ousterhout, Wendell, Zaharia, Stoica; SOSP 2013): batch sampling with late binding. When
// m ops of one kind of a job become ready together, d * m slots are drawn at random and a
// reservation is put into the queue of each; a slot that becomes free takes the first reservation
// in its queue whose batch still has an op to run, and the rest lapse.
//
// Departs: slots are the workers; only those that can run the kind are drawn (the paper's per-task
// constraints); a context of an FPGA is configured for what its queue asks for.

#ifndef TUTTI_POLICY_ONLINE_SPARROW_H_
#define TUTTI_POLICY_ONLINE_SPARROW_H_

#include <deque>
#include <set>
#include <utility>
#include <vector>

#include "tutti/base/random.h"
#include "tutti/policy/online/openings.h"

namespace tutti {

class Sparrow final : public PlacingDecider {
 public:
  explicit Sparrow(double probes) : probes_(probes) {}

 protected:
  void on_begin(const Cluster& cluster, uint64_t seed) override;
  void on_epoch(const WorldState& state) override;
  std::optional<Choice> choose(const WorldState& state) override;

 private:
  struct Reservation {
    JobId job;
    OpKindId kind;
  };
  void probe(const WorldState& state, const JobStatus& job, OpKindId kind, int count);
  // A ready op that the reservation can be for; invalid if there is none left.
  OpId op_for(const WorldState& state, const Reservation& reservation) const;

  double probes_;
  Rng rng_{0};
  std::vector<std::deque<Reservation>> queues_;  // by slot
  std::set<std::pair<JobId, OpId>> seen_;        // ready ops that were probed for
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_SPARROW_H_
