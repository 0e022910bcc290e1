// Every example in docs/formats is a file that its reader takes.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "test/support/markdown.h"
#include "tutti/base/file/document.h"
#include "tutti/calibrate/state_file.h"
#include "tutti/costs/file.h"
#include "tutti/costs/profile.h"
#include "tutti/graph/file.h"
#include "tutti/graph/import/import.h"
#include "tutti/machine/file.h"
#include "tutti/plan/check/check.h"
#include "tutti/plan/file.h"
#include "tutti/report/online_validation.h"
#include "tutti/report/validation.h"
#include "tutti/runtime/command/journal.h"
#include "tutti/runtime/sim/jobs/arrivals.h"
#include "tutti/trace/check.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

// Every fenced block of the page.
std::vector<Source> examples_in(const std::string& page) {
  const std::string path = "docs/formats/" + page;
  std::vector<Source> examples;
  for (const Fence& fence : read_markdown(path).fences) {
    examples.push_back(Source::from_text(path + ":" + std::to_string(fence.line), fence.text));
  }
  EXPECT_FALSE(examples.empty()) << path << " has no example";
  return examples;
}

// A file of examples/01_first_plan, whose plan and trace the pages show.
template <class T>
T first_plan_file(const std::string& name, Result<T> (*read)(Source&)) {
  Source source = Source::open(TUTTI_SOURCE_DIR "/examples/01_first_plan/" + name).value();
  return read(source).value();
}

struct FirstPlan {
  Problem problem = Problem::make(first_plan_file("graph.json", read_graph),
                                  first_plan_file("machine.toml", read_machine))
                        .value();
};

#define TUTTI_NEEDS_TOML() \
  if (!can_read_toml()) GTEST_SKIP() << "this build reads no TOML"

TEST(Formats, GraphExamplesAreGraphs) {
  for (Source& source : examples_in("graph.md")) {
    const Result<Graph> graph = read_graph(source);
    EXPECT_TRUE(graph) << graph.error().message;
  }
}

TEST(Formats, ForeignExamplesAreGraphsOfEveryTextFormat) {
  std::set<std::string> shown;
  for (Source& source : examples_in("foreign.md")) {
    const Result<Imported> imported = load_graph(source);
    ASSERT_TRUE(imported) << imported.error().message;
    shown.insert(imported->format);
  }
  // WfFormat has a whole example to itself.
  const Result<Imported> workflow =
      load_graph(TUTTI_SOURCE_DIR "/examples/07_workflow/workflow.json");
  ASSERT_TRUE(workflow) << workflow.error().message;
  shown.insert(workflow->format);
  for (const std::string& format : graph_formats()) {
    if (format == "tutti-graph" || format == "onnx") continue;  // its own page, and no text
    EXPECT_TRUE(shown.contains(format)) << "no example of " << format;
  }
}

TEST(Formats, MachineExamplesAreMachines) {
  TUTTI_NEEDS_TOML();
  for (Source& source : examples_in("machine.md")) {
    const Result<Machine> machine = read_machine(source);
    EXPECT_TRUE(machine) << machine.error().message;
  }
}

TEST(Formats, CostsExamplesAreCosts) {
  TUTTI_NEEDS_TOML();
  for (Source& source : examples_in("costs.md")) {
    const Result<CostSpec> costs = read_costs(source);
    EXPECT_TRUE(costs) << costs.error().message;
  }
}

TEST(Formats, ArrivalExamplesAreArrivals) {
  TUTTI_NEEDS_TOML();
  for (Source& source : examples_in("arrivals.md")) {
    const Result<std::vector<NamedArrival>> arrivals = read_arrivals(source);
    EXPECT_TRUE(arrivals) << arrivals.error().message;
  }
}

TEST(Formats, ProfileExamplesAreProfiles) {
  for (Source& source : examples_in("profile.md")) {
    const Result<Profile> profile = read_profile(source, "cpu");
    EXPECT_TRUE(profile) << profile.error().message;
  }
}

TEST(Formats, ConstraintsExamplesAreConstraints) {
  TUTTI_NEEDS_TOML();
  for (Source& source : examples_in("constraints.md")) {
    const Result<Constraints> constraints = read_constraints(source);
    EXPECT_TRUE(constraints) << constraints.error().message;
  }
}

TEST(Formats, PlanExamplesAreGoodPlansOfTheFirstExample) {
  TUTTI_NEEDS_TOML();
  const FirstPlan first;
  for (Source& source : examples_in("plan.md")) {
    const Result<Plan> plan = read_plan(source, first.problem);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(check_plan(first.problem, *plan), std::vector<std::string>());
    EXPECT_EQ(plan->provenance.machine_fingerprint, first.problem.machine.fingerprint());
    EXPECT_EQ(plan->provenance.costs_fingerprint, first.problem.costs.fingerprint());
  }
}

TEST(Formats, TraceExamplesAreGoodTracesOfTheFirstExample) {
  TUTTI_NEEDS_TOML();
  const FirstPlan first;
  for (Source& source : examples_in("trace.md")) {
    const Result<Trace> trace = read_trace(source, first.problem);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(check_trace(first.problem, *trace), std::vector<std::string>());
  }
}

TEST(Formats, JournalExamplesAreJournals) {
  for (Source& source : examples_in("journal.md")) {
    const Result<JournalText> journal = read_journal(source);
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_EQ(journal->entries.size(), 5U);
  }
}

TEST(Formats, ResultExamplesAreJson) {
  for (Source& source : examples_in("compare.md")) {
    const Result<Document> document = read_json(source);
    EXPECT_TRUE(document) << document.error().message;
  }
}

TEST(Formats, CalibrationExamplesAreCalibrations) {
  for (Source& source : examples_in("calibration.md")) {
    const Result<CalibrationState> state = read_calibration(source);
    EXPECT_TRUE(state) << state.error().message;
  }
}

TEST(Formats, ValidationExamplesAreValidations) {
  for (Source& source : examples_in("validation.md")) {
    const Result<ReportedValidation> validation = read_validation(source);
    EXPECT_TRUE(validation) << validation.error().message;
  }
  for (Source& source : examples_in("online-validation.md")) {
    const Result<ReportedOnlineValidation> validation = read_online_validation(source);
    EXPECT_TRUE(validation) << validation.error().message;
  }
}

}  // namespace
}  // namespace tutti
