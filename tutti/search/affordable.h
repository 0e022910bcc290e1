// How many scenarios a search can afford to take its means over. Many scenarios and a short wall
// clock would otherwise leave it no plan to compare.

#ifndef TUTTI_SEARCH_AFFORDABLE_H_
#define TUTTI_SEARCH_AFFORDABLE_H_

#include <chrono>

#include "tutti/search/evaluator.h"
#include "tutti/search/progress.h"

namespace tutti {

struct Affordable {
  int scenarios = 1;
  std::chrono::duration<double> simulation{0};  // how long one takes; 0: it was not measured
};

// Simulates the plan once, whatever the clock says, and one that uses all devices. As many
// scenarios as the model asks for, or fewer if the rest of a wall clock would not do for a thousand
// evaluations.
Affordable affordable_scenarios(const Problem& problem, const SearchModel& model, const Plan& plan,
                                const Progress& progress, int threads);

// What the evaluator says of a plan; if it is stopped, the cost in one scenario instead, which
// nothing stops.
double cost_in_any_case(const Problem& problem, const SearchModel& model, const Plan& plan,
                        Evaluator& evaluator);

}  // namespace tutti

#endif  // TUTTI_SEARCH_AFFORDABLE_H_
