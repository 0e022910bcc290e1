// Stage III: learning on the real machine. A run lives in a folder: checkpoint.safetensors (the
// learner, the best plan, how many runs were spent) and knowledge.json (what things take here) to
// go on from; model.safetensors, plan.json and log.jsonl (a line for each round) to use and to
// read. Whoever is killed goes on after the last round that was finished.

#ifndef TUTTI_TRAIN_REAL_STAGE_H_
#define TUTTI_TRAIN_REAL_STAGE_H_

#include <string>

#include "tutti/calibrate/real_search.h"
#include "tutti/train/policy_proposer.h"

namespace tutti {

struct RealStageSettings {
  std::string folder;
  RealSearchSettings search{};
  PolicyProposerSettings policy{};
  std::function<void(const RealRound& round)> on_round{};
};

// The problem is what is believed at first; `constraints` are what it was made with. Starts with
// the first of the plans and the knowledge given, or with what the folder has. Fails
// (invalid_input) if the folder is of another graph or machine, or spoilt; and as search_for_real.
Result<RealSearchResult> learn_for_real(const TensorFile& start, const std::string& path,
                                        const Problem& problem, const Constraints& constraints,
                                        Knowledge knowledge, Runtime& runtime,
                                        std::span<const Plan> plans,
                                        const RealStageSettings& settings);

}  // namespace tutti

#endif  // TUTTI_TRAIN_REAL_STAGE_H_
