// Teachers to imitate: they say what should be chosen in any state that a learner reaches, not only
// in those they would reach themselves.

#ifndef TUTTI_TRAIN_DOPPLER_TEACHER_H_
#define TUTTI_TRAIN_DOPPLER_TEACHER_H_

#include <vector>

#include "tutti/policy/doppler/episode.h"

namespace tutti {

// Doppler's teacher (Yao et al. 2025): of the ready ops those with the largest b-level, on the
// devices where they can start earliest.
class CriticalPathTeacher : public Teacher {
 public:
  explicit CriticalPathTeacher(const Problem& problem);

  void right_ops(const State& state, std::vector<OpId>& ops) override;
  void right_devices(const State& state, OpId op, std::vector<DeviceId>& devices) override;

 private:
  std::vector<double> b_level_;  // by op
};

// Follows a plan: of the ready ops those that come first in it, on its devices. An op that may not
// go there now may go where it can start earliest.
class PlanTeacher : public Teacher {
 public:
  // Keeps a reference to the plan.
  explicit PlanTeacher(const Plan& plan) : plan_(plan) {}

  void right_ops(const State& state, std::vector<OpId>& ops) override;
  void right_devices(const State& state, OpId op, std::vector<DeviceId>& devices) override;

 private:
  const Plan& plan_;
};

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_TEACHER_H_
