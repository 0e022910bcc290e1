// The state of a search as a file, so that a search that was interrupted can continue: under the
// same count and seed it then ends with the plan of an uninterrupted search.
// docs/formats/search-state.md.

#ifndef TUTTI_SEARCH_STATE_FILE_H_
#define TUTTI_SEARCH_STATE_FILE_H_

#include <string>

#include "tutti/base/file/source.h"
#include "tutti/search/walk/islands.h"

namespace tutti {

// What a state belongs to: it cannot be resumed with another problem, seed or budget.
struct StateOwner {
  uint64_t graph_fingerprint = 0;
  uint64_t machine_fingerprint = 0;
  uint64_t costs_fingerprint = 0;
  uint64_t constraints_fingerprint = 0;
  uint64_t seed = 0;
  int64_t evaluations = 0;  // 0: a wall clock
  std::string aim{};        // model, order and scenarios, as one line
};

StateOwner owner_of(const Problem& problem, const SearchModel& model, uint64_t seed,
                    const Budget& budget);

std::string state_to_json(const IslandsState& state, const StateOwner& owner);

// Fails if the file is of another owner, or holds plans that the problem does not allow. What it
// says of their costs is not checked here: plan_auto simulates them again.
Result<IslandsState> read_state(Source& source, const Problem& problem, const StateOwner& owner);

}  // namespace tutti

#endif  // TUTTI_SEARCH_STATE_FILE_H_
