// What is known of a job that is over, as answers to HTTP requests: its history, its trace, and the
// data from which the page draws its timeline.

#ifndef TUTTI_SERVE_HISTORY_API_H_
#define TUTTI_SERVE_HISTORY_API_H_

#include <string>

#include "tutti/serve/daemon.h"
#include "tutti/serve/http/server.h"

namespace tutti {

// GET /v1/jobs/ID/history, /trace and /timeline: 404 with a sentence if there is none.
HttpReply history_of_job(const Daemon& daemon, const std::string& id);
HttpReply trace_of_job(const Daemon& daemon, const std::string& id);
// Reads graph and trace again; what page_data() of tutti/report/page.h says of them.
HttpReply timeline_of_job(const Daemon& daemon, const std::string& id);

// GET /job.js: the module that draws it. 404 if this program was built without it.
HttpReply job_script_reply();

}  // namespace tutti

#endif  // TUTTI_SERVE_HISTORY_API_H_
