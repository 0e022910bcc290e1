#include "tutti/search/beam.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

#include "tutti/plan/draft.h"
#include "tutti/policy/heuristic/heuristics.h"
#include "tutti/policy/schedule/memory.h"
#include "tutti/runtime/sim/tails.h"

namespace tutti {
namespace {

constexpr size_t kWidth = 8;

struct Branch {
  std::unique_ptr<Draft> draft;
  Duration promise{0};
};

// One op of a branch on one device.
struct Option {
  size_t branch;
  OpId op;
  DeviceId device;
  Duration promise;
  Duration finish;

  auto key() const { return std::tuple(promise, finish, branch, device); }
};

Result<Plan> beam_search(const Problem& problem, const Budget& budget, uint64_t seed) {
  const std::vector<Duration> tails = least_tails(problem);
  Policy policy = critical_path_policy(problem, seed);
  std::vector<Branch> branches;
  branches.push_back({.draft = std::make_unique<Draft>(problem)});
  std::vector<Option> options;
  for (int32_t placed = 0; placed < problem.graph.size(); ++placed) {
    if (budget.stop.now()) return out_of_time();
    options.clear();
    std::optional<Error> refusal;
    for (size_t i = 0; i < branches.size(); ++i) {
      const Draft& draft = *branches[i].draft;
      const OpId op = *policy.select->select(draft);
      if (draft.devices_for(op).empty() && !refusal) refusal = no_room_for(draft, op);
      for (const DeviceId device : draft.devices_for(op)) {
        const Duration start = draft.earliest_start(op, device);
        const Duration run_time = problem.costs.run_time(op, device);
        const Duration promise = std::max(branches[i].promise, start + tails[op.index]);
        options.push_back({i, op, device, std::max(promise, start + run_time), start + run_time});
      }
    }
    if (options.empty()) return *refusal;
    std::sort(options.begin(), options.end(),
              [](const Option& a, const Option& b) { return a.key() < b.key(); });
    if (options.size() > kWidth) options.resize(kWidth);
    std::vector<Branch> next;
    for (size_t i = 0; i < options.size(); ++i) {
      const Option& option = options[i];
      // The last option of a branch takes its draft over; the others copy it.
      const bool last =
          std::none_of(options.begin() + static_cast<int64_t>(i) + 1, options.end(),
                       [&](const Option& later) { return later.branch == option.branch; });
      auto& from = branches[option.branch].draft;
      auto draft = last ? std::move(from) : std::make_unique<Draft>(*from);
      draft->apply(option.op, option.device);
      next.push_back({.draft = std::move(draft), .promise = option.promise});
    }
    branches = std::move(next);
  }
  const auto best = std::min_element(
      branches.begin(), branches.end(),
      [](const Branch& a, const Branch& b) { return a.draft->makespan() < b.draft->makespan(); });
  return best->draft->to_plan();
}

}  // namespace

PolicyEntry beam_entry() {
  return {.name = "beam",
          .what = "beam search over critical_path's choices",
          .source = "Lowerre 1976",
          .seeded = true,
          .plan = beam_search};
}

}  // namespace tutti
