#include "tutti/serve/history_api.h"

#include <utility>

#include "tutti/plan/bound.h"
#include "tutti/report/page.h"
#include "tutti/report/template.h"
#include "tutti/serve/http/guard.h"
#include "tutti/trace/file.h"

namespace tutti {
namespace {

Result<KeptJob> kept_of(const Daemon& daemon, const std::string& id) {
  const std::optional<JobFacts> job = daemon.find(id);
  if (!job) return failed("there is no job of that id");
  return daemon.history().find(*job);
}

Result<KeptJob> with_trace(const Daemon& daemon, const std::string& id) {
  Result<KeptJob> kept = kept_of(daemon, id);
  if (kept && kept->trace.empty())
    return failed("the job has no trace: it failed, was cancelled, or its run was not recorded");
  return kept;
}

Result<std::string> timeline_data(const Daemon& daemon, const std::string& id,
                                  const KeptJob& kept) {
  const Result<std::shared_ptr<const Problem>> made = daemon.problem_of(kept);
  if (!made) return made.error();
  const Problem* const problem = made->get();
  Source source = Source::from_text("the trace of job '" + id + "'", kept.trace);
  Result<Trace> trace = read_trace(source, *problem);
  if (!trace) return trace.error();
  if (trace->machine_fingerprint != problem->machine.fingerprint())
    return failed("the job ran on another machine than this server has now; its trace is kept");
  Result<ReportedRun> run = run_of_trace(*problem, id, std::move(*trace));
  if (!run) return run.error();
  Page page{.problem = problem, .bounds = lower_bounds(*problem)};
  page.runs.push_back(std::move(*run));
  return page_data(page);
}

}  // namespace

HttpReply history_of_job(const Daemon& daemon, const std::string& id) {
  Result<KeptJob> kept = kept_of(daemon, id);
  if (!kept) return refusal(404, kept.error().message);
  return {.body = std::move(kept->summary)};
}

HttpReply trace_of_job(const Daemon& daemon, const std::string& id) {
  Result<KeptJob> kept = with_trace(daemon, id);
  if (!kept) return refusal(404, kept.error().message);
  return {.body = std::move(kept->trace)};
}

HttpReply timeline_of_job(const Daemon& daemon, const std::string& id) {
  const Result<KeptJob> kept = with_trace(daemon, id);
  if (!kept) return refusal(404, kept.error().message);
  Result<std::string> data = timeline_data(daemon, id, *kept);
  if (!data) return refusal(404, data.error().message);
  return {.body = std::move(*data)};
}

HttpReply job_script_reply() {
  const auto script = job_script();
  if (script.empty()) {
    return refusal(404,
                   "this tutti was built without timelines, because node or the packages of web/ "
                   "were missing");
  }
  HttpReply reply{.type = "text/javascript; charset=utf-8"};
  for (const std::string_view part : script) reply.body += part;
  return reply;
}

}  // namespace tutti
