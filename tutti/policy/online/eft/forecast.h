// When each slot of the cluster is expected to be free: what runs in it, what waits in the queue
// behind it, and what it is promised to, each slowed down by what other ops and transfers of ours
// draw (crowding.h) and by what was learned of its device (residuals.h). And how long an op's
// operands would take to be fetched over links that are busy.
//
// How far a running op is follows from the slow-downs that it has met; its mean run time alone
// does not tell.
//
// For one thread.

#ifndef TUTTI_POLICY_ONLINE_EFT_FORECAST_H_
#define TUTTI_POLICY_ONLINE_EFT_FORECAST_H_

#include <vector>

#include "tutti/policy/online/eft/crowding.h"
#include "tutti/policy/online/eft/residuals.h"
#include "tutti/policy/online/openings.h"

namespace tutti {

inline double in_ns(Duration time) {
  return static_cast<double>(time.count());
}

class Forecast {
 public:
  explicit Forecast(const ResidualSettings& settings = {}) : residuals_(settings) {}

  // The cluster must outlive it.
  void begin(const Cluster& cluster);
  // Learns from what has ended, and looks at what is under way. The clock must not run backwards.
  void update(const WorldState& state, const Openings& openings);

  // As it was at the last update. Nanoseconds from then on until the slot (numbered across devices)
  // has done all that was given to it; 0: it is free.
  double free_in(int32_t slot) const { return free_in_[slot]; }
  const Crowding& crowding() const { return crowding_; }
  Crowding& crowding() { return crowding_; }

  // Nanoseconds until the op's operands would be in the device's memory.
  double fetch_ns(const JobStatus& job, OpId op, DeviceId device);
  // Run time there as learned, without crowding.
  double run_ns(const WorldState& state, const JobStatus& job, OpId op, DeviceId device) const;

 private:
  struct Progress {
    JobId job{};
    OpId op{};
    bool running = false;
    double run = 0;       // ns, alone
    double done = 0;      // ns of it, by the slow-downs that we know of
    double slowdown = 1;  // since `seen`
    Duration seen{0};
  };

  void learn(const WorldState& state);
  void follow(const WorldState& state);
  // What waits for its operands, and what queues: their transfers and, behind all that runs, work.
  void add_transfers(const WorldState& state, const JobStatus& job, OpId op);
  // Until the operands of an op that was given to a device are there.
  double fetch_left_ns(const WorldState& state, const JobStatus& job, OpId op);
  void add_queue(const WorldState& state, DeviceId device);
  template <class Visit>
  void visit_fetches(const JobStatus& job, OpId op, DeviceId device, Visit visit) const;

  const Cluster* cluster_ = nullptr;
  Crowding crowding_;
  RecentResiduals residuals_;
  std::vector<Progress> progress_;  // by slot
  std::vector<double> free_in_;     // by slot
  int64_t epoch_ = -1;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_ONLINE_EFT_FORECAST_H_
