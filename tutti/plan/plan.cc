#include "tutti/plan/plan.h"

#include "tutti/plan/problem.h"

namespace tutti {

void note_origin(const Problem& problem, uint64_t seed, Provenance& provenance) {
  provenance.seed = seed;
  provenance.graph_fingerprint = problem.graph.fingerprint();
  provenance.machine_fingerprint = problem.machine.fingerprint();
  provenance.costs_fingerprint = problem.costs.fingerprint();
}

}  // namespace tutti
