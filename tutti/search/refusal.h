// Why a search found no plan at all.

#ifndef TUTTI_SEARCH_REFUSAL_H_
#define TUTTI_SEARCH_REFUSAL_H_

#include <string>
#include <vector>

#include "tutti/plan/problem.h"

namespace tutti {

// What one policy said.
struct Refusal {
  std::string policy;
  std::string sentence;
};

// Infeasible, for a reason that is proven if there is one (tutti/policy/memory.h); otherwise it
// only says that none was found, and what the attempt said that looks at memory closest.
Error why_no_plan(const Problem& problem, const std::vector<Refusal>& refusals);

}  // namespace tutti

#endif  // TUTTI_SEARCH_REFUSAL_H_
