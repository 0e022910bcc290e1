// The Api answers HTTP requests with what a Daemon does. docs/serve.md lists them.

#ifndef TUTTI_SERVE_API_H_
#define TUTTI_SERVE_API_H_

#include <array>
#include <atomic>
#include <functional>
#include <string>

#include "tutti/base/file/json_writer.h"
#include "tutti/serve/daemon.h"
#include "tutti/serve/history_api.h"
#include "tutti/serve/http/guard.h"
#include "tutti/serve/http/server.h"
#include "tutti/serve/live.h"

namespace tutti {

// What a server is asked to run jobs with from now on. Empty: as before.
struct ReloadRequest {
  std::string policy{};
  std::string machine{};
  std::string costs{};
};

struct ApiOptions {
  int64_t most_body_bytes = int64_t{16} << 20;  // of one job
  std::string version;
  // Reads files of the server again, and changes what is named. Fails with a sentence: nothing has
  // changed then.
  std::function<Result<void>(const ReloadRequest& request)> reload{};
};

class Api : public HttpHandler {
 public:
  // Keeps references to the daemon.
  Api(Daemon& daemon, Guard guard, ApiOptions options);

  Admission admit(const HttpHead& head) override;
  HttpReply answer(const HttpRequest& request) override;

  // What the HTTP server itself counts, for the metrics. Set before it is asked.
  void watch(const HttpServer* server) { server_ = server; }

 private:
  HttpReply submit(const HttpRequest& request);
  HttpReply list(const HttpHead& head) const;
  HttpReply show(const HttpRequest& request, const std::string& id) const;
  std::optional<JobFacts> job_once_over(const std::string& id, std::chrono::seconds time,
                                        const std::function<bool()>& gone) const;
  HttpReply cancel(const std::string& id);
  HttpReply drain();
  HttpReply reload(const HttpHead& head);
  // `waits`: with the reason why each does not run.
  void write_jobs(std::string_view key, const std::vector<JobFacts>& jobs, JsonWriter& json,
                  bool waits) const;
  HttpReply health() const;
  HttpReply readiness() const;
  HttpReply events(const HttpHead& head) const;
  std::string overview() const;
  LiveSample sample() const;
  HttpReply metrics() const;
  HttpReply counted(HttpReply reply);

  Daemon& daemon_;
  Guard guard_;
  ApiOptions options_;
  const HttpServer* server_ = nullptr;
  int64_t started_ms_;
  std::array<std::atomic<int64_t>, 6> replies_{};  // by the first digit of their status
  Live live_;                                      // last: its thread asks the rest
};

// `waits`: why it does not run, if that is known.
void write_job(const JobFacts& job, JsonWriter& json, const std::string& waits = {});

}  // namespace tutti

#endif  // TUTTI_SERVE_API_H_
