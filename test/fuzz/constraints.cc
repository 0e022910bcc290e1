#include "tutti/plan/constraints.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "test/fuzz/world.h"

namespace tutti::fuzz {

bool fuzz_constraints(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  const Result<Constraints> constraints = read_constraints(source);
  if (!constraints) {
    expect_refusal(constraints.error());
    return false;
  }
  const Problem& fixed = fixed_problem();
  const Result<Problem> problem = fixed.with_constraints(*constraints);
  if (!problem) {
    expect_refusal_of_problem(problem.error());
    return true;
  }
  for (const OpId op : fixed.graph.ops()) TUTTI_CHECK(!problem->devices_for(op).empty());
  return true;
}

}  // namespace tutti::fuzz
