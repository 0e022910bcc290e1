// Plans: made by tutti, given, or read; simulated and compared.

#ifndef TUTTI_DOOR_PLAN_H_
#define TUTTI_DOOR_PLAN_H_

#include <tutti/door/problem.h>

#include <span>

namespace tutti {
inline namespace v0 {

struct PlanOptions {
  std::string policy = "auto";
  uint64_t seed = 1;
  double budget_seconds = 0;  // wall clock of a search; 0: none
  int64_t evaluations = 0;    // simulations of a search; the same count gives the same plan
};

// A device and a priority for each op. Immutable; keeps its problem alive.
class Plan {
 public:
  explicit Plan(const Problem& problem, const PlanOptions& given = {}) : Plan(problem, nullptr) {
    auto options = internal::sized<tutti_plan_options>();
    options.policy = given.policy.c_str();
    options.seed = given.seed;
    options.budget_seconds = given.budget_seconds;
    options.evaluations = given.evaluations;
    tutti_error error;
    handle_.reset(internal::checked(tutti_plan_make(problem.handle(), &options, &error), error));
  }
  // By hand: the device of each op; among those that are ready, the first in the graph goes first.
  static Plan of(const Problem& problem, const std::vector<int32_t>& devices) {
    tutti_error error;
    return Plan(problem, internal::checked(tutti_plan_of(problem.handle(), devices.data(), nullptr,
                                                         devices.size(), &error),
                                           error));
  }
  static Plan load(const Problem& problem, const std::string& path) {
    tutti_error error;
    return Plan(problem,
                internal::checked(tutti_plan_load(problem.handle(), path.c_str(), &error), error));
  }

  int64_t makespan_ns() const { return tutti_plan_makespan(handle()); }
  // makespan / lower bound - 1.
  double gap() const {
    return bound_ns_ > 0 ? static_cast<double>(makespan_ns()) / static_cast<double>(bound_ns_) - 1
                         : 0;
  }
  std::string policy() const { return tutti_plan_policy(handle()); }
  // By op.
  std::span<const int32_t> devices() const {
    return {tutti_plan_devices(handle()), tutti_plan_size(handle())};
  }
  void save(const std::string& path) const {
    tutti_error error;
    internal::check(tutti_plan_save(handle(), path.c_str(), &error), error);
  }

  const tutti_plan* handle() const { return handle_.get(); }

 private:
  Plan(const Problem& problem, tutti_plan* handle)
      : handle_(handle), bound_ns_(problem.lower_bound_ns()) {}

  internal::Owned<tutti_plan, tutti_plan_free> handle_;
  int64_t bound_ns_;
};

struct Compared {
  std::string policy;
  std::string error;  // empty: it made plans that run
  double mean_ns = 0;
  double gap = 0;
};

// Each policy with ten seeds, simulated. Without policies: all that tutti plans with.
inline std::vector<Compared> compare(const Problem& problem,
                                     const std::vector<std::string>& policies = {}) {
  std::vector<const char*> names;
  for (const std::string& policy : policies) names.push_back(policy.c_str());
  auto options = internal::sized<tutti_compare_options>();
  options.policies = names.empty() ? nullptr : names.data();
  options.policy_count = static_cast<int32_t>(names.size());
  tutti_error error;
  const internal::Owned<tutti_comparison, tutti_comparison_free> comparison(
      internal::checked(tutti_compare(problem.handle(), &options, &error), error));
  std::vector<Compared> rows;
  for (size_t i = 0; i < tutti_comparison_size(comparison.get()); ++i) {
    auto row = internal::sized<tutti_compared>();
    tutti_comparison_row(comparison.get(), i, &row);
    rows.push_back({row.policy, row.error == nullptr ? "" : row.error, row.mean_ns, row.gap});
  }
  return rows;
}

}  // namespace v0
}  // namespace tutti

#endif  // TUTTI_DOOR_PLAN_H_
