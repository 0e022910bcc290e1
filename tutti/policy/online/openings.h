// What deciders that place one ready op at a time have in common: where an op could go now, how
// long that would take, and the configuring of FPGA contexts, which takes two decisions and an
// epoch between them: the context is promised to the op, which is launched as soon as it is
// configured.

#ifndef TUTTI_POLICY_ONLINE_OPENINGS_H_
#define TUTTI_POLICY_ONLINE_OPENINGS_H_

#include <optional>
#include <vector>

#include "tutti/plan/world/decider.h"

namespace tutti {

// A device that a ready op could be given to now.
struct Opening {
  DeviceId device{};
  int slot = -1;            // of the device: free, or expected to be free first
  bool configures = false;  // the context must be configured first
  Duration wait{0};         // in the device's queue; 0: a slot is free
  Duration time{0};         // wait, configure, fetch and run, with nothing else on the machine
};

class Openings {
 public:
  void reset() { promises_.clear(); }

  // An op whose context is ready for it. Ask this first in every decision.
  std::optional<Action> promised(const WorldState& state);

  bool is_promised(JobId job, OpId op) const;
  // Of a context that was configured for an op: which.
  struct Promise {
    int32_t slot = 0;  // numbered through
    JobId job{};
    OpId op{};
  };
  const std::vector<Promise>& promises() const { return promises_; }

  // Those of a ready op that is not promised, by device.
  void list(const WorldState& state, const JobStatus& job, OpId op,
            std::vector<Opening>& openings) const;

  // The action that takes it. An op that must be configured for need not be ready yet.
  Action take(const JobStatus& job, OpId op, const Opening& opening, const WorldState& state);

 private:
  bool is_promised(int32_t slot) const;

  std::vector<Promise> promises_;
};

// Forgets what was computed for jobs that have ended, now and then. By std::shared_ptr<const Job>.
template <class Map>
void forget_ended(const WorldState& state, Map& by_job) {
  if (by_job.size() <= 2 * state.in_system.size() + 16) return;
  std::erase_if(by_job, [](const auto& entry) { return entry.first.use_count() == 1; });
}

// When what a slot has (launched, being configured, and promised to an op) is expected to end, by
// mean run times; never before now.
Duration expected_end(const WorldState& state, const Openings& openings, int32_t slot);

// A decider that chooses one op and opening at a time; here is what all of them do alike.
class PlacingDecider : public Decider {
 public:
  void begin(const Cluster& cluster, uint64_t seed) final;
  Action decide(const WorldState& state) final;

 protected:
  struct Choice {
    const JobStatus* job = nullptr;
    OpId op{};
    Opening opening{};
  };
  virtual void on_begin(const Cluster& /*cluster*/, uint64_t /*seed*/) {}
  // Once for every epoch, before its first choice.
  virtual void on_epoch(const WorldState& /*state*/) {}
  // None: wait. If the whole cluster is idle, the first ready op then goes where it is quickest.
  virtual std::optional<Choice> choose(const WorldState& state) = 0;
  // The action was chosen and is about to be done.
  virtual void on_launch(const WorldState& /*state*/, const Choice& /*choice*/) {}

  const Openings& openings() const { return openings_; }
  // Of those that take at most `patience` times as long as the op's quickest device; 0: of all.
  std::vector<Opening>& bearable(const WorldState& state, const JobStatus& job, OpId op,
                                 double patience);

 private:
  Openings openings_;
  std::vector<Opening> list_;
  int64_t epoch_ = -1;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_OPENINGS_H_
