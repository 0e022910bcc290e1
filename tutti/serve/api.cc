#include "tutti/serve/api.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <utility>

#include "tutti/serve/page.h"

namespace tutti {
namespace {

constexpr std::string_view kJobs = "/v1/jobs";
constexpr int64_t kLongestWaitSeconds = 60;
constexpr int64_t kMostListed = 1000;
constexpr int64_t kLatestMs = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostDeadlineMs = int64_t{366} * 24 * 3600 * 1000;

// What a request is for.
enum class Endpoint {
  page,
  script,
  health,
  ready,
  metrics,
  overview,
  series,
  events,
  jobs,
  job,
  history,
  trace,
  timeline,
  drain,
  reload,
  none
};

Endpoint endpoint_of(const std::string& path) {
  if (path == "/") return Endpoint::page;
  if (path == "/job.js") return Endpoint::script;
  if (path == "/healthz") return Endpoint::health;
  if (path == "/readyz") return Endpoint::ready;
  if (path == "/metrics") return Endpoint::metrics;
  if (path == "/v1/overview") return Endpoint::overview;
  if (path == "/v1/series") return Endpoint::series;
  if (path == "/v1/events") return Endpoint::events;
  if (path == "/v1/drain") return Endpoint::drain;
  if (path == "/v1/reload") return Endpoint::reload;
  if (path == kJobs) return Endpoint::jobs;
  if (!path.starts_with("/v1/jobs/")) return Endpoint::none;
  const size_t slash = path.find('/', kJobs.size() + 1);
  if (slash == std::string::npos) return Endpoint::job;
  const std::string_view about = std::string_view(path).substr(slash);
  if (about == "/history") return Endpoint::history;
  if (about == "/trace") return Endpoint::trace;
  return about == "/timeline" ? Endpoint::timeline : Endpoint::none;
}

// Of "/v1/jobs/ID" and "/v1/jobs/ID/history".
std::string job_id_of(const std::string& path) {
  const size_t begin = kJobs.size() + 1;
  const size_t slash = path.find('/', begin);
  return path.substr(begin, slash == std::string::npos ? slash : slash - begin);
}

std::string_view methods_of(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::jobs:
      return "GET, HEAD, POST";
    case Endpoint::job:
      return "GET, HEAD, DELETE";
    case Endpoint::drain:
    case Endpoint::reload:
      return "POST";
    default:
      return "GET, HEAD";
  }
}

bool allows(Endpoint endpoint, const std::string& method) {
  std::string_view left = methods_of(endpoint);
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find(','));
    if (one == method) return true;
    left.remove_prefix(std::min(left.size(), one.size() + 2));
  }
  return false;
}

// The whole number of a parameter, or the fallback; none if it is no number in the range.
std::optional<int64_t> whole_of(const HttpHead& head, std::string_view name, int64_t fallback,
                                int64_t least, int64_t most) {
  const std::string* const text = head.parameter(name);
  if (text == nullptr) return fallback;
  int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, code] = std::from_chars(text->data(), end, number);
  if (code != std::errc{} || rest != end || number < least || number > most) return std::nullopt;
  return number;
}

HttpReply no_number(std::string_view name, int64_t least, int64_t most) {
  return refusal(400, fmt::format("{} is a whole number from {} to {}", name, least, most));
}

// A parameter that is unknown is most likely misspelt.
std::optional<HttpReply> check_parameters(const HttpHead& head,
                                          std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : head.query) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return refusal(400, one_line(fmt::format("there is no parameter '{}' here", name)));
    }
  }
  return std::nullopt;
}

// The refusal of a request whose body need not be read; none if it is fine.
std::optional<HttpReply> refused_by_head(const HttpHead& head, int64_t most_body_bytes) {
  const Endpoint endpoint = endpoint_of(head.path);
  if (endpoint == Endpoint::none) return refusal(404, "there is nothing at this address");
  if (!allows(endpoint, head.method)) {
    HttpReply reply = refusal(405, fmt::format("this address takes {}", methods_of(endpoint)));
    reply.headers.emplace_back("Allow", std::string(methods_of(endpoint)));
    return reply;
  }
  const int64_t most = endpoint == Endpoint::jobs ? most_body_bytes : 0;
  if (head.content_length <= most) return std::nullopt;
  return refusal(413, most == 0
                          ? "this address takes no body"
                          : fmt::format("a job may have {} here, and this has {}",
                                        bytes_to_text(most), bytes_to_text(head.content_length)));
}

HttpReply with_job(int status, const JobFacts& job, const std::string& waits = {}) {
  JsonWriter json(/*inline_depth=*/0);
  write_job(job, json, waits);
  return {.status = status, .body = json.text()};
}

HttpReply later(int status, const std::string& sentence, int seconds) {
  HttpReply reply = refusal(status, sentence);
  reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  return reply;
}

std::string journal_failed(const std::string& why) {
  return "the journal has failed: " + why;
}

// By the states' names, separated by commas; none if one is unknown.
std::optional<std::set<JobState>> states_of(std::string_view text) {
  std::set<JobState> states;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    bool known = false;
    for (const JobState state : {JobState::accepting, JobState::queued, JobState::running,
                                 JobState::done, JobState::failed, JobState::cancelled}) {
      if (one != to_text(state)) continue;
      states.insert(state);
      known = true;
    }
    if (!known) return std::nullopt;
  }
  return states;
}

void write_clients(std::map<std::string, ClientFigures> clients, MetricsText& text) {
  const auto real = [](int64_t number) { return static_cast<double>(number); };
  text.family("tutti_client_jobs_open", "gauge", "Jobs that are not over, by client.");
  clients.erase("");  // jobs without a client are in the other figures
  for (const auto& [name, one] : clients) {
    text.sample("tutti_client_jobs_open", {{"client", name}}, real(one.open));
  }
  text.family("tutti_client_jobs_accepted_total", "counter", "Jobs accepted, by client.");
  for (const auto& [name, one] : clients) {
    text.sample("tutti_client_jobs_accepted_total", {{"client", name}}, real(one.accepted_total));
  }
  constexpr const char* kOver = "tutti_client_jobs_over_total";
  text.family(kOver, "counter", "Jobs that are over, by client and by how they ended.");
  for (const auto& [name, one] : clients) {
    text.sample(kOver, {{"client", name}, {"state", "done"}}, real(one.done_total));
    text.sample(kOver, {{"client", name}, {"state", "failed"}}, real(one.failed_total));
    text.sample(kOver, {{"client", name}, {"state", "cancelled"}}, real(one.cancelled_total));
  }
}

// Seconds of device time.
double seconds_of(Duration time) {
  return std::chrono::duration<double>(time).count();
}

void write_device_time(const std::vector<ClientShare>& shares,
                       const std::vector<std::string>& devices, MetricsText& text) {
  constexpr const char* kTime = "tutti_client_device_seconds_total";
  text.family(kTime, "counter", "Device time of ops that have ended, by client and device.");
  for (const ClientShare& one : shares) {
    for (size_t i = 0; i < std::min(devices.size(), one.used_by_device.size()); ++i) {
      text.sample(kTime, {{"client", one.name}, {"device", devices[i]}},
                  seconds_of(one.used_by_device[i]));
    }
  }
  constexpr const char* kBusy = "tutti_device_busy_seconds_total";
  text.family(kBusy, "counter", "Device time of ops that have ended, by device.");
  for (size_t i = 0; i < devices.size(); ++i) {
    double sum = 0;
    for (const ClientShare& one : shares) {
      if (i < one.used_by_device.size()) sum += seconds_of(one.used_by_device[i]);
    }
    text.sample(kBusy, {{"device", devices[i]}}, sum);
  }
  text.family("tutti_client_share", "gauge",
              "Share of the device time of the last window, and the share that the weight gives.");
  for (const ClientShare& one : shares) {
    text.sample("tutti_client_share", {{"client", one.name}, {"what", "used"}}, one.share);
    text.sample("tutti_client_share", {{"client", one.name}, {"what", "entitled"}}, one.entitled);
  }
  text.family("tutti_client_quota_wait_seconds", "gauge",
              "How long a client waits for its quota of device time.");
  for (const ClientShare& one : shares) {
    if (one.quota == kNever) continue;
    text.sample("tutti_client_quota_wait_seconds", {{"client", one.name}},
                seconds_of(one.quota_free_in));
  }
}

}  // namespace

void write_job(const JobFacts& job, JsonWriter& json, const std::string& waits) {
  json.open_object().field("id", job.id).field("number", job.number);
  json.field("state", to_text(job.state)).field("priority", job.priority);
  json.field("graph", job.graph).field("ops", job.ops).field("attempts", job.attempts);
  json.field("accepted_unix_ms", job.accepted_ms);
  if (job.started_ms > 0) json.field("started_unix_ms", job.started_ms);
  if (job.ended_ms > 0) json.field("ended_unix_ms", job.ended_ms);
  if (job.state == JobState::done) json.field("makespan_ns", job.makespan);
  if (!job.message.empty()) json.field("message", job.message);
  if (!job.client.empty()) json.field("client", job.client);
  if (job.deadline_ms > 0) json.field("deadline_unix_ms", job.deadline_ms);
  if (!waits.empty()) json.field("waits", waits);
  json.close_object();
}

Api::Api(Daemon& daemon, Guard guard, ApiOptions options)
    : daemon_(daemon),
      guard_(std::move(guard)),
      options_(std::move(options)),
      started_ms_(wall_clock_ms()),
      live_([this] { return sample(); }, [this] { return overview(); }) {}

HttpReply Api::counted(HttpReply reply) {
  const size_t hundreds = static_cast<size_t>(reply.status / 100);
  if (hundreds < replies_.size()) replies_[hundreds].fetch_add(1);
  return reply;
}

Admission Api::admit(const HttpHead& head) {
  Admission admission = guard_.admit(head);
  if (!admission.refused) admission.refused = refused_by_head(head, options_.most_body_bytes);
  if (admission.refused) admission.refused = counted(std::move(*admission.refused));
  return admission;
}

HttpReply Api::answer(const HttpRequest& request) {
  const HttpHead& head = request.head;
  const Endpoint endpoint = endpoint_of(head.path);
  switch (endpoint) {
    case Endpoint::page: {
      HttpReply reply{.body = std::string(serve_page()), .type = "text/html; charset=utf-8"};
      reply.headers.emplace_back("Content-Security-Policy",
                                 "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src "
                                 "'unsafe-inline'; connect-src 'self'; img-src data:; "
                                 "frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
      return counted(std::move(reply));
    }
    case Endpoint::script:
      return counted(job_script_reply());
    case Endpoint::history:
      return counted(history_of_job(daemon_, job_id_of(head.path)));
    case Endpoint::trace:
      return counted(trace_of_job(daemon_, job_id_of(head.path)));
    case Endpoint::timeline:
      return counted(timeline_of_job(daemon_, job_id_of(head.path)));
    case Endpoint::health:
      return counted(health());
    case Endpoint::ready:
      return counted(readiness());
    case Endpoint::metrics:
      return counted(metrics());
    case Endpoint::overview:
      return counted({.body = overview()});
    case Endpoint::series: {
      if (auto wrong = check_parameters(head, {"after"})) return counted(std::move(*wrong));
      const auto after = whole_of(head, "after", 0, 0, kLatestMs);
      if (!after) return counted(no_number("after", 0, kLatestMs));
      return counted({.body = live_.series(*after)});
    }
    case Endpoint::events:
      return counted(events(head));
    case Endpoint::drain:
      return counted(drain());
    case Endpoint::reload:
      return counted(reload(head));
    case Endpoint::jobs:
      return counted(head.method == "POST" ? submit(request) : list(head));
    case Endpoint::job: {
      const std::string id = job_id_of(head.path);
      return counted(head.method == "DELETE" ? cancel(id) : show(request, id));
    }
    case Endpoint::none:
      break;
  }
  return counted(refusal(404, "there is nothing at this address"));
}

HttpReply Api::submit(const HttpRequest& request) {
  const HttpHead& head = request.head;
  if (auto wrong = check_parameters(head, {"id", "priority", "deadline_ms"})) return *wrong;
  const auto priority = whole_of(head, "priority", 0, -kMostPriority, kMostPriority);
  if (!priority) return no_number("priority", -kMostPriority, kMostPriority);
  const std::string* const id = head.parameter("id");
  if (id != nullptr && id->empty()) return refusal(400, "the id is empty; leave it out");
  const auto deadline = whole_of(head, "deadline_ms", 0, 1, kMostDeadlineMs);
  if (!deadline) return no_number("deadline_ms", 1, kMostDeadlineMs);
  const SubmitAnswer answer = daemon_.submit({.id = id == nullptr ? "" : *id,
                                              .priority = static_cast<int32_t>(*priority),
                                              .client = request.client,
                                              .deadline_in_ms = *deadline},
                                             std::make_shared<const std::string>(request.body));
  using What = SubmitAnswer::What;
  switch (answer.what) {
    case What::accepted:
      return with_job(201, answer.job);
    case What::known:
      return with_job(200, answer.job);
    case What::conflict:
      return refusal(409, answer.sentence);
    case What::invalid:
      return refusal(400, answer.sentence);
    case What::too_large:
      return refusal(413, answer.sentence);
    case What::unrunnable:
    case What::too_late:
      return refusal(422, answer.sentence);
    case What::commands:
      return refusal(403, answer.sentence);
    case What::full:
    case What::quota:
      return later(429, answer.sentence, 1);
    case What::draining:
    case What::unavailable:
      break;
  }
  return later(503, answer.sentence, 10);
}

HttpReply Api::list(const HttpHead& head) const {
  if (auto wrong = check_parameters(head, {"state", "before", "limit"})) return *wrong;
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  const auto limit = whole_of(head, "limit", 100, 1, kMostListed);
  if (!limit) return no_number("limit", 1, kMostListed);
  const auto before = whole_of(head, "before", kLast, 1, kLast);
  if (!before) return no_number("before", 1, kLast);
  const std::string* const given = head.parameter("state");
  const auto states = states_of(given == nullptr ? "" : *given);
  if (!states) {
    return refusal(400,
                   "state is one or more of accepting, queued, running, done, failed and "
                   "cancelled, separated by commas");
  }
  JsonWriter json(/*inline_depth=*/2);
  json.open_object();
  write_jobs("jobs", daemon_.list(*states, *before, *limit), json, false);
  json.close_object();
  return {.body = json.text()};
}

// None if there is no such job. The wait ends when the client has gone.
std::optional<JobFacts> Api::job_once_over(const std::string& id, std::chrono::seconds time,
                                           const std::function<bool()>& gone) const {
  constexpr std::chrono::milliseconds kBetweenLooks{200};
  const auto end = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    const bool last = !gone || left <= kBetweenLooks;
    auto job =
        daemon_.wait(id, last ? std::max(left, std::chrono::milliseconds(0)) : kBetweenLooks);
    if (last || !job || is_over(job->state) || gone()) return job;
    const DaemonFigures figures = daemon_.figures();
    if (figures.stopping || !figures.broken.empty()) return job;
  }
}

HttpReply Api::show(const HttpRequest& request, const std::string& id) const {
  const HttpHead& head = request.head;
  if (auto wrong = check_parameters(head, {"wait"})) return *wrong;
  const auto seconds = whole_of(head, "wait", 0, 0, kLongestWaitSeconds);
  if (!seconds) return no_number("wait", 0, kLongestWaitSeconds);
  const auto job = job_once_over(id, std::chrono::seconds(*seconds), request.gone);
  if (!job) return refusal(404, "there is no job of that id");
  if (*seconds > 0 && !is_over(job->state)) {
    // A client that waits for what will not come would ask again at once.
    const DaemonFigures figures = daemon_.figures();
    if (!figures.broken.empty()) return later(503, journal_failed(figures.broken), 10);
    if (figures.stopping) return later(503, "the server is being stopped; ask it later", 10);
  }
  return with_job(200, *job, daemon_.why_waiting(*job));
}

HttpReply Api::cancel(const std::string& id) {
  const CancelAnswer answer = daemon_.cancel(id);
  using What = CancelAnswer::What;
  switch (answer.what) {
    case What::cancelled:
      return with_job(200, answer.job);
    case What::asked:
      return with_job(202, answer.job);
    case What::over:
      return refusal(409, fmt::format("the job is over already: {}", to_text(answer.job.state)));
    case What::unknown:
      return refusal(404, "there is no job of that id");
    case What::unavailable:
      break;
  }
  return later(503, answer.sentence, 10);
}

// Whether it is of any use to go on asking this process: why is for those with a token.
HttpReply Api::health() const {
  if (daemon_.figures().broken.empty()) return {.body = "ok\n", .type = "text/plain"};
  return {.status = 503, .body = "the journal has failed\n", .type = "text/plain"};
}

HttpReply Api::readiness() const {
  const std::string why = daemon_.unready();
  if (why.empty()) return {.body = "ready\n", .type = "text/plain"};
  return {.status = 503, .body = why + "\n", .type = "text/plain"};
}

HttpReply Api::drain() {
  daemon_.drain();
  const DaemonFigures figures = daemon_.figures();
  if (!figures.broken.empty()) return later(503, journal_failed(figures.broken), 10);
  JsonWriter json(/*inline_depth=*/0);
  json.open_object().field("draining", true).field("open", figures.jobs.open());
  json.close_object();
  return {.status = 202, .body = json.text()};
}

HttpReply Api::reload(const HttpHead& head) {
  if (auto wrong = check_parameters(head, {"policy", "machine", "costs"})) return *wrong;
  if (!options_.reload) return refusal(501, "this server cannot be reloaded");
  const auto given = [&](std::string_view name) {
    const std::string* const text = head.parameter(name);
    return text == nullptr ? std::string() : *text;
  };
  const Result<void> done = options_.reload(
      {.policy = given("policy"), .machine = given("machine"), .costs = given("costs")});
  if (!done && done.error().kind == Error::Kind::failed)
    return later(503, done.error().message, 10);
  if (!done) return refusal(422, done.error().message);
  const ServedBy by = daemon_.served_by();
  JsonWriter json(/*inline_depth=*/0);
  json.open_object().field("machine", by.machine).field("policy", by.policy);
  json.field("places", by.places).field("reloading", by.reloading);
  json.field("running", daemon_.figures().jobs.running).close_object();
  return {.status = by.reloading ? 202 : 200, .body = json.text()};
}

HttpReply Api::metrics() const {
  const DaemonFigures figures = daemon_.figures();
  const auto real = [](int64_t number) { return static_cast<double>(number); };
  MetricsText text;
  text.family("tutti_build_info", "gauge", "The version, as a label.");
  text.sample("tutti_build_info", {{"version", options_.version}}, 1);
  text.gauge("tutti_start_time_seconds", "When the server was started, in seconds since 1970.",
             real(started_ms_) / 1000);
  text.family("tutti_jobs_open", "gauge", "Jobs that are not over, by state.");
  text.sample("tutti_jobs_open", {{"state", "accepting"}}, real(figures.jobs.accepting));
  text.sample("tutti_jobs_open", {{"state", "queued"}}, real(figures.jobs.queued));
  text.sample("tutti_jobs_open", {{"state", "running"}}, real(figures.jobs.running));
  text.gauge("tutti_jobs_open_bytes", "Bytes of their graphs.", real(figures.jobs.open_bytes));
  text.gauge("tutti_jobs_kept", "Jobs that are over and still remembered.",
             real(figures.jobs.kept));
  text.counter("tutti_jobs_accepted_total", "Jobs accepted.", figures.jobs.accepted_total);
  text.counter("tutti_jobs_refused_total", "Jobs refused for want of room.", figures.refused_total);
  text.family("tutti_jobs_over_total", "counter", "Jobs that are over, by how they ended.");
  text.sample("tutti_jobs_over_total", {{"state", "done"}}, real(figures.jobs.done_total));
  text.sample("tutti_jobs_over_total", {{"state", "failed"}}, real(figures.jobs.failed_total));
  text.sample("tutti_jobs_over_total", {{"state", "cancelled"}},
              real(figures.jobs.cancelled_total));
  write_clients(figures.jobs.clients, text);
  write_device_time(daemon_.shares(), daemon_.share_devices(), text);
  text.counter("tutti_deadlines_missed_total", "Jobs that were not over at their deadline.",
               figures.jobs.missed_total);
  text.counter("tutti_reloads_total", "Times that machine or policy were replaced.",
               figures.reloads_total);
  text.histogram("tutti_job_wait_seconds", "From acceptance to the last start.",
                 figures.wait_seconds);
  text.histogram("tutti_job_run_seconds", "From the last start to the end.", figures.run_seconds);
  text.counter("tutti_decisions_total", "Ops that the policy placed.",
               daemon_.decisions().op_count());
  const ServedBy by = daemon_.served_by();
  text.counter("tutti_decider_calls_total", "Times that the decider was asked.", by.deciding.asked);
  text.family("tutti_decider_seconds_total", "counter", "Time that the decider took.");
  text.sample("tutti_decider_seconds_total", {}, seconds_of(by.deciding.time));
  text.gauge("tutti_draining", "1 if no new jobs are taken.", figures.draining ? 1 : 0);
  text.gauge("tutti_journal_broken", "1 if the journal cannot be written.",
             figures.broken.empty() ? 0 : 1);
  text.gauge("tutti_journal_bytes", "Length of the journal.", real(figures.journal.bytes));
  text.counter("tutti_journal_records_total", "Records written.", figures.journal.records_total);
  text.counter("tutti_journal_syncs_total", "Times the disk was waited for.",
               figures.journal.syncs_total);
  text.family("tutti_journal_sync_seconds_total", "counter", "Time that the disk was waited for.");
  text.sample("tutti_journal_sync_seconds_total", {}, seconds_of(figures.journal.sync_time));
  text.counter("tutti_journal_rewrites_total", "Times the journal was rewritten.",
               figures.journal.rewrites_total);
  text.gauge("tutti_history_jobs", "Jobs whose history is kept.", real(figures.history.jobs));
  text.gauge("tutti_history_bytes", "Bytes of these files.", real(figures.history.bytes));
  text.counter("tutti_history_left_out_total",
               "Jobs whose history was not kept, because they ended too fast or the disk is full.",
               figures.history.left_out_total);
  text.counter("tutti_history_deleted_total", "Jobs whose history was deleted.",
               figures.history.deleted_total);
  text.family("tutti_http_replies_total", "counter", "Replies, by the first digit of the status.");
  for (size_t i = 2; i < replies_.size(); ++i) {
    text.sample("tutti_http_replies_total", {{"code", fmt::format("{}xx", i)}},
                real(replies_[i].load()));
  }
  if (server_ != nullptr) {
    text.gauge("tutti_http_connections", "Open connections.", server_->connections());
    text.counter("tutti_http_turned_away_total", "Connections turned away for want of room.",
                 server_->turned_away_total());
    text.counter("tutti_http_made_room_total", "Connections closed to make room for others.",
                 server_->made_room_total());
  }
  text.family("tutti_utilisation", "gauge",
              "How busy a resource is, from 0 to 1: mean, and the bounds of 95 of 100.");
  for (const Utilisation& one : daemon_.utilisation()) {
    for (const auto& [what, value] :
         {std::pair{"mean", one.mean}, {"low", one.low}, {"high", one.high}}) {
      text.sample("tutti_utilisation", {{"resource", one.resource}, {"what", what}}, value);
    }
  }
  return {.body = text.text(), .type = "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace tutti
