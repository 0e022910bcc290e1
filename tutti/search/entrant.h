// An Entrant is one that `auto` may win with: a policy that was asked, or a walk of the search, its
// plan and what became of it.

#ifndef TUTTI_SEARCH_ENTRANT_H_
#define TUTTI_SEARCH_ENTRANT_H_

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tutti/search/islands.h"

namespace tutti {

// What is told of an entrant afterwards.
struct Tried {
  std::string policy;
  Duration makespan{kNever};  // mean over the judging scenarios; kNever if it has no plan that runs
  std::string refusal{};      // its sentence, then
  bool late = false;          // that was for want of time
};

struct Entrant {
  Tried tried;
  std::string order{};                   // the rule that gave it its priorities, if not its own
  std::optional<Candidate> candidate{};  // none: it has no plan that runs
  double plan_seconds = 0;               // that its plan took
};

// Those with a plan, the best first; the earlier first where they are equal.
inline std::vector<Entrant*> by_cost(std::vector<Entrant>& entrants) {
  std::vector<Entrant*> ranked;
  for (Entrant& entrant : entrants) {
    if (entrant.candidate) ranked.push_back(&entrant);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Entrant* a, const Entrant* b) {
    return a->candidate->cost < b->candidate->cost;
  });
  return ranked;
}

}  // namespace tutti

#endif  // TUTTI_SEARCH_ENTRANT_H_
