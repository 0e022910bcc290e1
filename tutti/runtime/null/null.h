// The smallest runtime: everything happens at once and takes no time. Copy it to write your own;
// use it to see that a plan or policy gets through at all.

#ifndef TUTTI_RUNTIME_NULL_NULL_H_
#define TUTTI_RUNTIME_NULL_NULL_H_

#include "tutti/runtime/runtime.h"

namespace tutti {

class NullRuntime : public Runtime {
 public:
  Result<Trace> run(const Problem& problem, const Plan& plan) override;
  Result<Trace> run_online(const Problem& problem, Policy& policy) override;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_NULL_NULL_H_
