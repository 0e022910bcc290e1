// A Runtime acts: it takes a plan, or asks an online policy as it goes, and gives a Trace of what
// happened. All runtimes pass one conformance suite (runtime/conformance_testing.h).

#ifndef TUTTI_RUNTIME_RUNTIME_H_
#define TUTTI_RUNTIME_RUNTIME_H_

#include "tutti/plan/plan.h"
#include "tutti/plan/policy.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

class Runtime {
 public:
  virtual ~Runtime() = default;
  // Fail (infeasible) with a sentence if the run cannot go on, for instance for want of memory.
  virtual Result<Trace> run(const Problem& problem, const Plan& plan) = 0;
  virtual Result<Trace> run_online(const Problem& problem, Policy& policy) = 0;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_RUNTIME_H_
