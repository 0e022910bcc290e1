// Stage III: learning on the real machine, and its control, which has a search instead of a policy
// and learns only the costs. A run lives in a folder: checkpoint.safetensors (the
// learner, if there is one, the best plans, how many runs were spent) and knowledge.json (the
// measured costs) to go on from; model.safetensors, plan.json and log.jsonl (a line for each
// round) to use and to read. A run that was killed goes on after the last finished round.

#ifndef TUTTI_TRAIN_DOPPLER_REAL_STAGE_H_
#define TUTTI_TRAIN_DOPPLER_REAL_STAGE_H_

#include <functional>
#include <string>
#include <vector>

#include "tutti/calibrate/real_search.h"
#include "tutti/train/doppler/policy_proposer.h"

namespace tutti {

struct RealStageSettings {
  std::string folder;
  RealSearchSettings search{};
  PolicyProposerSettings policy{};
  std::function<void(const RealRound& round)> on_round{};
};

// Called only where a run begins. At least one plan.
using FirstPlans = std::function<Result<std::vector<Plan>>()>;

// The problem is what is believed at first; `constraints` are what it was made with. Starts with
// the first of the plans and the knowledge given, or with what the folder has. Fails
// (invalid_input) if the folder is of another graph, machine or kind of run, or spoilt; and as
// search_for_real.
Result<RealSearchResult> learn_for_real(const TensorFile& start, const std::string& path,
                                        const Problem& problem, const Constraints& constraints,
                                        Knowledge knowledge, Runtime& runtime,
                                        const FirstPlans& plans, const RealStageSettings& settings);

// The control, in the same way. Of the settings for the policy only the threads count.
Result<RealSearchResult> search_alone_for_real(const Problem& problem,
                                               const Constraints& constraints, Knowledge knowledge,
                                               Runtime& runtime, const FirstPlans& plans,
                                               const RealStageSettings& settings);

}  // namespace tutti

#endif  // TUTTI_TRAIN_DOPPLER_REAL_STAGE_H_
