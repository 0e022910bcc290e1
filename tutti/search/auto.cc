#include "tutti/search/auto.h"

#include <optional>

#include "tutti/base/parallel.h"
#include "tutti/policy/registry.h"
#include "tutti/search/judge.h"

namespace tutti {
namespace {

// Under noise a single draw says little; these seeds are ours and no policy sees them.
constexpr int kRunsUnderNoise = 16;

struct Candidate {
  std::optional<Plan> plan;
  Tried tried;
};

Candidate try_policy(const PolicyEntry& entry, const Problem& problem, SimModel model,
                     ReadyOrder order, uint64_t seed) {
  Candidate candidate;
  candidate.tried.policy = entry.name;
  Result<Plan> plan = make_plan(entry, problem, {}, seed);
  if (!plan) {
    candidate.tried.refusal = plan.error().message;
    return candidate;
  }
  Judge judge(problem, model, order);
  const int runs = judge.depends_on_seed() ? kRunsUnderNoise : 1;
  Duration total{0};
  for (int run = 0; run < runs; ++run) {
    const Result<Duration> makespan = judge.makespan(*plan, seed + static_cast<uint64_t>(run));
    if (!makespan) {
      candidate.tried.refusal = makespan.error().message;
      return candidate;
    }
    total += *makespan;
  }
  candidate.tried.makespan = total / runs;
  candidate.plan = std::move(*plan);
  candidate.plan->provenance.evaluations = runs;
  return candidate;
}

}  // namespace

Result<AutoResult> plan_auto(const Problem& problem, SimModel model, ReadyOrder order,
                             uint64_t seed, int threads) {
  std::vector<const PolicyEntry*> entries;
  for (const PolicyEntry& entry : policy_registry()) {
    if (!entry.for_comparison) entries.push_back(&entry);
  }
  std::vector<Candidate> candidates(entries.size());
  parallel_for(static_cast<int>(entries.size()), threads, [&](int index, int /*thread*/) {
    candidates[static_cast<size_t>(index)] =
        try_policy(*entries[static_cast<size_t>(index)], problem, model, order, seed);
  });
  AutoResult result;
  result.makespan = kNever;
  Candidate* best = nullptr;
  std::string refusal;
  int64_t evaluations = 0;
  for (Candidate& candidate : candidates) {
    result.tried.push_back(candidate.tried);
    if (!candidate.plan) {
      refusal = candidate.tried.refusal;
      continue;
    }
    evaluations += candidate.plan->provenance.evaluations;
    if (candidate.tried.makespan < result.makespan) {
      result.makespan = candidate.tried.makespan;
      best = &candidate;
    }
  }
  if (best == nullptr) return infeasible(refusal);
  result.plan = std::move(*best->plan);
  result.plan.provenance.evaluations = evaluations;
  return result;
}

}  // namespace tutti
