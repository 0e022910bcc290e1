// A SimModel is the way in which a simulation takes a plan to run. The product has one, the
// physical model (physical.h): slots, links, memory, noise. A study may add others to the table
// below; those take plans and mean durations only, have an order of their own, and are told by
// name.

#ifndef TUTTI_RUNTIME_SIM_MODEL_H_
#define TUTTI_RUNTIME_SIM_MODEL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

// Simulates plans of one problem under a model that is not the physical one. One thread uses it.
class PlanSimulator {
 public:
  virtual ~PlanSimulator() = default;
  // The makespan; kNever as soon as it is certain to be longer than `give_up_beyond`. Every op must
  // be placed on a device that can run it.
  virtual Duration evaluate(const Plan& plan, Duration give_up_beyond) = 0;

  // Of the last evaluation that was not given up, as PhysicalSimulator's.
  virtual Duration start(OpId op) const = 0;
  virtual Duration finish(OpId op) const = 0;
  virtual OpId decided_by(OpId op) const = 0;
  // Its runtime is "sim", with the model's name.
  virtual Trace trace() const = 0;
};

struct OtherSimModel {
  std::string name;
  std::string what;  // for --help
  int number = 1;    // in the settings of a training folder; the physical model is 0
  std::function<std::unique_ptr<PlanSimulator>(const Problem& problem)> make;
};

class SimModel {
 public:
  static const SimModel physical;

  // The physical one.
  constexpr SimModel() = default;

  std::string name() const { return other_ == nullptr ? "physical" : other_->name; }
  int number() const { return other_ == nullptr ? 0 : other_->number; }
  // Whether the order of a plan changes what happens.
  bool follows_priorities() const { return other_ == nullptr; }
  // Null for the physical model.
  const OtherSimModel* other() const { return other_; }

  friend bool operator==(SimModel, SimModel) = default;

 private:
  friend SimModel add_sim_model(OtherSimModel model);
  friend std::vector<SimModel> sim_models();
  explicit constexpr SimModel(const OtherSimModel* other) : other_(other) {}

  const OtherSimModel* other_ = nullptr;
};
inline constexpr SimModel SimModel::physical{};

// The physical model, and then the others.
std::vector<SimModel> sim_models();
// None if there is no such model.
std::optional<SimModel> find_sim_model(std::string_view name);

// For programs with models of their own: in main, before anything else. A new name and number.
SimModel add_sim_model(OtherSimModel model);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_SIM_MODEL_H_
