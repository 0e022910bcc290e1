// What is kept of a job that is over, as text: how long it waited and ran and why, where its ops
// ran, the run's trace, and what was submitted. docs/formats/history.md.

#ifndef TUTTI_SERVE_HISTORY_KEPT_JOB_H_
#define TUTTI_SERVE_HISTORY_KEPT_JOB_H_

#include <memory>
#include <string>
#include <string_view>

#include "tutti/serve/history/job_waits.h"
#include "tutti/serve/journal/job.h"

namespace tutti {

// A run that has ended.
struct EndedJob {
  JobFacts facts;
  Content content{};
  std::string runtime{};  // "local", "sim", "cluster"
  std::string policy{};
  std::string machine{};  // its name
  // Null: nothing is known of the run, or the job was never started.
  std::shared_ptr<const RunRecord> run{};
};

// The three texts of a file.
struct KeptJob {
  std::string summary;     // JSON
  std::string trace{};     // a trace file; empty: there is none
  std::string submission;  // as it came
};

// Slow, for large jobs: some milliseconds for ten thousand ops.
KeptJob keep_job(const EndedJob& ended);

// One text, and back. Fails (invalid_input) with a sentence if it is none.
std::string to_file(const KeptJob& kept);
Result<KeptJob> kept_job_from_file(const std::string& name, std::string text);

// Whether a summary is of this job: numbers begin again after a journal was moved away.
bool is_summary_of(std::string_view summary, const JobFacts& job);

}  // namespace tutti

#endif  // TUTTI_SERVE_HISTORY_KEPT_JOB_H_
