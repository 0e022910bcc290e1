#include "tutti/search/refusal.h"

#include "tutti/policy/memory.h"

namespace tutti {

Error why_no_plan(const Problem& problem, const std::vector<Refusal>& refusals) {
  if (const Result<void> room = require_possible_room(problem); !room) return room.error();
  const Refusal* told = nullptr;
  for (const Refusal& refusal : refusals) {
    if (refusal.sentence.empty()) continue;
    told = &refusal;
    if (refusal.policy == "m_etf") break;  // it looks at memory closest
  }
  if (told == nullptr) return infeasible("no plan found: no policy made one");
  const std::string prefix = "no plan found: ";
  if (told->sentence.compare(0, prefix.size(), prefix) == 0) return infeasible(told->sentence);
  return infeasible(prefix + "the closest attempt is that of " + told->policy + ", and " +
                    told->sentence);
}

}  // namespace tutti
