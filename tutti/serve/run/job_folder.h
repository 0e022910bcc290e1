// The folder of a job that starts commands, runs/NUMBER of the state folder. What is recorded there
// as done is not run again, so it has to be that very job's: numbers begin again where a journal is
// moved away or cut back, and the folders stay.
//
// So each folder says in job.json whose it is. docs/formats/job.md.

#ifndef TUTTI_SERVE_RUN_JOB_FOLDER_H_
#define TUTTI_SERVE_RUN_JOB_FOLDER_H_

#include <cstdint>
#include <string>

#include "tutti/base/result.h"

namespace tutti {

// No two jobs share one: a journal that is cut back keeps its id, and takes the same job in again
// at another time.
struct JobIdentity {
  std::string journal{};  // its id
  std::string job{};
  int64_t number = 0;
  int64_t accepted_ms = 0;
  uint64_t digest = 0;  // of what was submitted
};

// job.json of that job.
std::string to_text(const JobIdentity& identity);

// What becomes of a folder of tutti 0.1, which does not say whose it is.
enum class Unnamed : uint8_t { moved_aside, taken_over };

// Leaves a folder at `path` that is this job's, with what an earlier run of it left there, or a new
// one. Another job's is moved aside, under a name that is free. Returns a sentence about that, or
// nothing. Fails (failed) if files cannot be written or moved.
Result<std::string> prepare_job_folder(const std::string& path, const JobIdentity& identity,
                                       Unnamed unnamed);

// True if the folder is that very job's.
bool is_folder_of(const std::string& path, const JobIdentity& identity);

// True if there is a folder that does not say whose it is.
bool is_unnamed_job_folder(const std::string& path);

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_JOB_FOLDER_H_
