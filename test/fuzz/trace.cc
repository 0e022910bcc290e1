#include "tutti/trace/trace.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"
#include "test/fuzz/world.h"
#include "tutti/report/page.h"
#include "tutti/trace/check.h"
#include "tutti/trace/file.h"
#include "tutti/trace/stats.h"

namespace tutti::fuzz {

bool fuzz_trace(const uint8_t* data, size_t size) {
  const Problem& problem = fixed_problem();
  Source source = source_of(data, size);
  const Result<Trace> trace = read_trace(source, problem);
  if (!trace) {
    expect_refusal(trace.error());
    return false;
  }
  static const Plan plan = testing::small_plan(problem);
  for (const TraceRules& rules :
       {TraceRules{}, TraceRules{.plan = &plan}, TraceRules{.plan = &plan, .released = true},
        TraceRules{.timeless = true}}) {
    const std::vector<std::string> faults = check_trace(problem, *trace, rules);
    for (const std::string& fault : faults) expect_sentence(fault);
    if (faults.empty() && !rules.released) {
      TUTTI_CHECK(trace_stats(problem, *trace).makespan == trace->makespan);
    }
  }
  Result<ReportedRun> run = run_of_trace(problem, "input", *trace);
  if (!run) {
    expect_refusal(run.error());
    return true;
  }
  TUTTI_CHECK(page_data({.problem = &problem, .runs = {std::move(*run)}}).find('<') ==
              std::string::npos);
  return true;
}

}  // namespace tutti::fuzz
