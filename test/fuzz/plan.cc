#include "tutti/plan/plan.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "test/fuzz/world.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/file.h"
#include "tutti/runtime/sim/sim.h"
#include "tutti/trace/check.h"

namespace tutti::fuzz {
namespace {

// A plan that the judge of plans lets through can be run, or does not fit the memory; its run
// passes the judge of traces.
void run(const Problem& problem, const Plan& plan) {
  SimRuntime runtime(SimModel::physical, {});
  const Result<Trace> trace = runtime.run(problem, plan);
  if (!trace) return expect_refusal_of_problem(trace.error());
  const std::vector<std::string> faults = check_trace(problem, *trace, {.plan = &plan});
  for (const std::string& fault : faults) std::fprintf(stderr, "%s\n", fault.c_str());
  TUTTI_CHECK(faults.empty());
}

}  // namespace

bool fuzz_plan(const uint8_t* data, size_t size) {
  const Problem& problem = fixed_problem();
  Source source = source_of(data, size);
  const Result<Plan> plan = read_plan(source, problem);
  if (!plan) {
    expect_refusal(plan.error());
    return false;
  }
  Source written = Source::from_text("written", plan_to_json(*plan, problem));
  TUTTI_CHECK(read_plan(written, problem).has_value());
  const std::vector<std::string> faults = check_plan(problem, *plan);
  for (const std::string& fault : faults) expect_sentence(fault);
  if (faults.empty()) run(problem, *plan);
  return true;
}

}  // namespace tutti::fuzz
