// Earliest finish time over all jobs in the system, with a virtual backlog. Ready ops are taken in
// an order, and each goes where it would end first: behind what runs there and waits in the queue,
// behind the ops before it in the order (the virtual backlog), after its operands have come over
// links that are busy, and slowed down by the ops that it would share resources with
// (forecast.h). Ops whose place is free now are launched; the others wait for theirs.
//
// After HEFT (Topcuoglu, Hariri, Wu; TPDS 2002). Departs from online_heft.h: what runs is followed,
// not assumed to go as if alone; jobs may go by the work that they have left; waiting has to pay.
//
// With residuals it learns how much longer than that ops take on each device (residuals.h).
//
// It plans once for all decisions that are made on one state. A plan takes time in proportion to
// the ready ops and devices; its lists are reused, so that only new jobs allocate.

#ifndef TUTTI_POLICY_ONLINE_EFT_BACKLOG_EFT_H_
#define TUTTI_POLICY_ONLINE_EFT_BACKLOG_EFT_H_

#include <cstdint>
#include <map>
#include <vector>

#include "tutti/policy/online/eft/forecast.h"

namespace tutti {

struct BacklogEftSettings {
  enum class Order : uint8_t {
    arrival,         // the oldest job first
    upward_rank,     // the longest way to the end of its job first
    remaining_work,  // the job with the least work left first
    slowdown,        // the job with the least work left, times its critical path
  };
  Order order = Order::slowdown;
  // How much waiting moves a job forward: upward_rank adds that many times its time in the system;
  // remaining_work and slowdown divide by that power of its slow-down so far. 0: not at all.
  double age = 0;
  // Weight of being slowed down by own ops: 0 ignores them, more than 1 counts in what they suffer.
  double crowding = 1;
  // It waits for a busy device only if it ends that many times earlier there than on a free one.
  double reluctance = 1;
  ResidualSettings residuals{};
};

class BacklogEft final : public PlacingDecider {
 public:
  explicit BacklogEft(const BacklogEftSettings& settings)
      : settings_(settings), forecast_(settings.residuals) {}

 protected:
  void on_begin(const Cluster& cluster, uint64_t seed) override;
  void on_epoch(const WorldState& state) override;
  std::optional<Choice> choose(const WorldState& state) override;

 private:
  struct Candidate {
    double key;   // the least goes first
    double rank;  // of equal keys the highest
    JobId job;
    OpId op;
  };
  struct Launch {
    JobId job;
    OpId op;
    Opening opening;
  };
  // What is left of a device while a plan is made.
  struct Room {
    int32_t first = 0;  // its first slot
    int32_t next = 0;   // the slot that is free first, numbered across devices
    int32_t idle = 0;   // slots
    int32_t queue = 0;  // places
  };
  struct Spot {
    int32_t slot = -1;  // numbered across devices
    double finish = 0;  // ns from now
    bool now = false;   // it can be launched
    bool configures = false;
  };

  const std::vector<double>& ranks(const std::shared_ptr<const Job>& job);
  double key(const WorldState& state, const JobStatus& job) const;
  void gather(const WorldState& state);
  void look_at_rooms(const WorldState& state);
  void plan(const WorldState& state);
  // Where the op would end first on that device.
  Spot spot_on(const WorldState& state, const JobStatus& job, OpId op, DeviceId device);
  void take(const WorldState& state, const JobStatus& job, OpId op, const Spot& spot);
  void find_next_slot(DeviceId device);
  bool is_open() const;

  BacklogEftSettings settings_;
  const Cluster* cluster_ = nullptr;
  Forecast forecast_;
  // By job; the pointer is kept so that no other job can take its place.
  std::map<std::shared_ptr<const Job>, std::vector<double>> ranks_;
  std::vector<Candidate> candidates_;
  std::vector<double> free_in_;       // by slot, with the virtual backlog
  std::vector<uint8_t> idle_;         // by slot
  std::vector<OpKindId> configured_;  // by slot: once it is free
  std::vector<Room> rooms_;           // by device
  std::vector<Launch> launches_;      // planned, not yet answered
  size_t answered_ = 0;               // of launches_
  std::vector<JobId> planned_for_;    // jobs that were visible
  bool planned_ = false;              // in this epoch
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_EFT_BACKLOG_EFT_H_
