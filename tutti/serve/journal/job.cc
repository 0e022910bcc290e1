#include "tutti/serve/journal/job.h"

#include <algorithm>

namespace tutti {

const char* to_text(JobState state) {
  switch (state) {
    case JobState::accepting:
      return "accepting";
    case JobState::queued:
      return "queued";
    case JobState::running:
      return "running";
    case JobState::done:
      return "done";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
  }
  return "";
}

Result<void> check_job_id(std::string_view id) {
  constexpr size_t kLongest = 200;
  const bool good = !id.empty() && id.size() <= kLongest && id != "." && id != ".." &&
                    std::all_of(id.begin(), id.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == ':';
                    });
  if (!good) {
    return invalid_input(
        "an id is 1 to 200 letters, digits, '.', '_', '-' and ':', and not '.' or '..'; choose "
        "another, or leave it out");
  }
  if (id.starts_with("job-")) {
    return invalid_input("ids that begin with 'job-' are given by the server; choose another");
  }
  return {};
}

}  // namespace tutti
