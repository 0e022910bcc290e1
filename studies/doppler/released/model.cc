#include "studies/doppler/released/model.h"

#include "studies/doppler/released/simulator.h"

namespace tutti {
namespace {

class ReleasedPlanSimulator : public PlanSimulator {
 public:
  explicit ReleasedPlanSimulator(const Problem& problem) : simulator_(problem) {}

  Duration evaluate(const Plan& plan, Duration give_up_beyond) override {
    return simulator_.evaluate(plan.placement, give_up_beyond);
  }
  Duration start(OpId op) const override { return simulator_.start(op); }
  Duration finish(OpId op) const override { return simulator_.finish(op); }
  OpId decided_by(OpId op) const override { return simulator_.decided_by(op); }
  Trace trace() const override { return simulator_.trace(); }

 private:
  ReleasedSimulator simulator_;
};

}  // namespace

void add_released_model() {
  add_sim_model({.name = "released",
                 .what = "the simulator published with Doppler",
                 .number = 1,
                 .make = [](const Problem& problem) -> std::unique_ptr<PlanSimulator> {
                   return std::make_unique<ReleasedPlanSimulator>(problem);
                 }});
}

SimModel released_model() {
  return find_sim_model("released").value();
}

}  // namespace tutti
