// The page before data is put into it, and the script of a job's timeline. web/ holds their
// sources; the build bundles them and makes these functions from them, or empty ones where node or
// the packages of web/ are missing.

#ifndef TUTTI_REPORT_TEMPLATE_H_
#define TUTTI_REPORT_TEMPLATE_H_

#include <span>
#include <string_view>

namespace tutti {

// The text in pieces, because compilers limit how long a literal may be. Both empty: none was
// built in.
struct PageTemplate {
  std::span<const std::string_view> before_data;
  std::span<const std::string_view> after_data;
};

PageTemplate page_template();

// A module that exports JobTimeline, which draws what page_data() says of runs (web/src/job.js), in
// pieces. Empty: none was built in.
std::span<const std::string_view> job_script();

}  // namespace tutti

#endif  // TUTTI_REPORT_TEMPLATE_H_
