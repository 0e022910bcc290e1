// The report: one HTML page that needs nothing else, made from runs of one problem, from
// comparisons, validations of the simulator, the logs of training runs, what other commands printed
// as JSON, and beliefs about machines.
// This room turns values into the page; web/ holds how it looks and behaves.

#ifndef TUTTI_REPORT_PAGE_H_
#define TUTTI_REPORT_PAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "tutti/base/file/output.h"
#include "tutti/plan/bound.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/report/belief_view.h"
#include "tutti/report/command_output.h"
#include "tutti/report/comparison.h"
#include "tutti/report/online_validation.h"
#include "tutti/report/resources.h"
#include "tutti/report/training_log.h"
#include "tutti/report/validation.h"
#include "tutti/trace/trace.h"

namespace tutti {

// A timeline to be shown: what a trace says happened, or what a plan expects.
struct ReportedRun {
  std::string name;  // its file
  bool is_plan = false;
  std::string by{};  // the policy of a plan, the runtime of a trace
  Trace trace{};     // of a plan: its own timeline, without transfers; empty if it has none
};

// Both fail with a sentence if the page could not show it: a slot that its device does not have, or
// a span that ends before it starts.
Result<ReportedRun> run_of_trace(const Problem& problem, const std::string& name, Trace trace);
Result<ReportedRun> run_of_plan(const Problem& problem, const std::string& name, const Plan& plan);

struct Page {
  // What all runs are of; null where there are none.
  const Problem* problem = nullptr;
  Bounds bounds{};
  std::optional<Duration> single_device{};  // the makespan of all on the best one
  std::vector<ReportedRun> runs{};
  std::optional<ReportedAlternatives> alternatives{};  // of the first plan
  std::vector<Comparison> comparisons{};
  std::vector<TrainingLog> training{};
  std::vector<ReportedValidation> validations{};
  std::vector<ReportedOnlineValidation> online_validations{};
  std::vector<CommandOutput> outputs{};
  std::vector<ReportedBelief> beliefs{};
};

// What the page's script reads: JSON without any "<".
std::string page_data(const Page& page);

// Fails if this build has no template to write.
Result<void> can_write_pages();

// Requires can_write_pages().
void write_page(const Page& page, Output& output);

}  // namespace tutti

#endif  // TUTTI_REPORT_PAGE_H_
