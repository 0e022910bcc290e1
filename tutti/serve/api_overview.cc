// What the server's page shows: how things stand, and a sample of it for the page's charts.

#include <limits>
#include <memory>
#include <utility>

#include "tutti/serve/api.h"

namespace tutti {
namespace {

double device_seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

void write_counts(const DaemonFigures& figures, JsonWriter& json) {
  json.key("jobs").open_object().field("accepting", figures.jobs.accepting);
  json.field("queued", figures.jobs.queued).field("running", figures.jobs.running);
  json.field("kept", figures.jobs.kept).field("accepted_total", figures.jobs.accepted_total);
  json.field("done_total", figures.jobs.done_total);
  json.field("failed_total", figures.jobs.failed_total);
  json.field("cancelled_total", figures.jobs.cancelled_total);
  json.field("refused_total", figures.refused_total).close_object();
}

void write_shares(const std::vector<ClientShare>& shares, JsonWriter& json) {
  json.key("clients").open_list();
  for (const ClientShare& one : shares) {
    json.open_object().field("client", one.name).field("open", one.open_jobs);
    json.field("weight", one.weight).field("device_s", device_seconds(one.used_total));
    json.field("share", one.share).field("entitled", one.entitled);
    if (one.quota != kNever) {
      json.field("quota_s", device_seconds(one.quota))
          .field("per_s", device_seconds(one.quota_window));
      json.field("quota_used_s", device_seconds(one.quota_used));
      json.field("quota_free_in_s", device_seconds(one.quota_free_in));
    }
    json.close_object();
  }
  json.close_list();
}

// Ends when the token with which it was asked for is no longer good.
class GuardedStream : public HttpStream {
 public:
  GuardedStream(Guard guard, HttpHead head, std::shared_ptr<HttpStream> stream)
      : guard_(std::move(guard)), head_(std::move(head)), stream_(std::move(stream)) {}
  std::optional<std::string> next(std::chrono::milliseconds patience) override {
    if (guard_.admit(head_).refused) return std::nullopt;
    return stream_->next(patience);
  }

 private:
  Guard guard_;
  HttpHead head_;
  std::shared_ptr<HttpStream> stream_;
};

}  // namespace

HttpReply Api::events(const HttpHead& head) const {
  return {.type = "text/event-stream",
          .stream = std::make_shared<GuardedStream>(guard_, head, live_.stream())};
}

void Api::write_jobs(std::string_view key, const std::vector<JobFacts>& jobs, JsonWriter& json,
                     bool waits) const {
  json.key(key).open_list();
  for (const JobFacts& job : jobs) {
    write_job(job, json, waits ? daemon_.why_waiting(job) : std::string());
  }
  json.close_list();
}

std::string Api::overview() const {
  constexpr int64_t kShown = 20;
  const DaemonFigures figures = daemon_.figures();
  JsonWriter json(/*inline_depth=*/2);
  const ServedBy by = daemon_.served_by();
  json.open_object().field("schema_version", 1).field("version", options_.version);
  json.field("machine", by.machine).field("runtime", by.runtime);
  json.field("policy", by.policy).field("places", by.places);
  json.field("reloading", by.reloading).field("started_unix_ms", started_ms_);
  json.field("now_unix_ms", wall_clock_ms()).field("draining", figures.draining);
  json.field("stopping", figures.stopping).field("broken", figures.broken);
  write_counts(figures, json);
  write_shares(daemon_.shares(), json);
  json.field("utilisation_what", by.runtime == "local" ? "believed from this host's counters"
                                                       : "believed from simulated counters");
  json.key("utilisation").open_list();
  for (const Utilisation& one : daemon_.utilisation()) {
    json.open_object().field("resource", one.resource).field("mean", one.mean);
    json.field("low", one.low).field("high", one.high).field("measured", one.measured);
    json.close_object();
  }
  json.close_list().key("decisions").open_list();
  for (const ServedDecision& one : daemon_.decisions().latest(20, 40)) {
    json.open_object().field("unix_ms", one.time_ms).field("job", one.job);
    json.field("op", one.op).field("device", one.device).field("reason", one.reason);
    json.close_object();
  }
  json.close_list();
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  write_jobs("running", daemon_.list({JobState::running}, kLast, kShown), json, true);
  write_jobs("queue", daemon_.queue(kShown), json, true);
  write_jobs("over",
             daemon_.list({JobState::done, JobState::failed, JobState::cancelled}, kLast, kShown),
             json, false);
  json.close_object();
  return json.text();
}

LiveSample Api::sample() const {
  const DaemonFigures figures = daemon_.figures();
  LiveSample sample;
  sample.unix_ms = wall_clock_ms();
  sample.queued = figures.jobs.queued + figures.jobs.accepting;
  sample.running = figures.jobs.running;
  sample.done = figures.jobs.done_total;
  sample.failed = figures.jobs.failed_total;
  sample.cancelled = figures.jobs.cancelled_total;
  sample.ended = figures.run_seconds.count();
  sample.wait_seconds = figures.wait_seconds.sum();
  sample.run_seconds = figures.run_seconds.sum();
  sample.utilisation = daemon_.utilisation();
  return sample;
}

}  // namespace tutti
