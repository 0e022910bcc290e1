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

// What a request is for.
enum class Endpoint { page, health, ready, metrics, overview, jobs, job, drain, none };

Endpoint endpoint_of(const std::string& path) {
  if (path == "/") return Endpoint::page;
  if (path == "/healthz") return Endpoint::health;
  if (path == "/readyz") return Endpoint::ready;
  if (path == "/metrics") return Endpoint::metrics;
  if (path == "/v1/overview") return Endpoint::overview;
  if (path == "/v1/drain") return Endpoint::drain;
  if (path == kJobs) return Endpoint::jobs;
  if (path.starts_with("/v1/jobs/") && path.find('/', kJobs.size() + 1) == std::string::npos) {
    return Endpoint::job;
  }
  return Endpoint::none;
}

std::string_view methods_of(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::jobs:
      return "GET, HEAD, POST";
    case Endpoint::job:
      return "GET, HEAD, DELETE";
    case Endpoint::drain:
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

HttpReply with_job(int status, const JobFacts& job) {
  JsonWriter json(/*inline_depth=*/0);
  write_job(job, json);
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

void write_counts(const DaemonFigures& figures, JsonWriter& json) {
  json.key("jobs").open_object().field("accepting", figures.jobs.accepting);
  json.field("queued", figures.jobs.queued).field("running", figures.jobs.running);
  json.field("kept", figures.jobs.kept).field("accepted_total", figures.jobs.accepted_total);
  json.field("done_total", figures.jobs.done_total);
  json.field("failed_total", figures.jobs.failed_total);
  json.field("cancelled_total", figures.jobs.cancelled_total);
  json.field("refused_total", figures.refused_total).close_object();
}

void write_clients(const std::map<std::string, ClientFigures>& clients, MetricsText& text) {
  const auto real = [](int64_t number) { return static_cast<double>(number); };
  text.family("tutti_client_jobs_open", "gauge", "Jobs that are not over, by client.");
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

void write_jobs(std::string_view key, const std::vector<JobFacts>& jobs, JsonWriter& json) {
  json.key(key).open_list();
  for (const JobFacts& job : jobs) write_job(job, json);
  json.close_list();
}

}  // namespace

void write_job(const JobFacts& job, JsonWriter& json) {
  json.open_object().field("id", job.id).field("number", job.number);
  json.field("state", to_text(job.state)).field("priority", job.priority);
  json.field("graph", job.graph).field("ops", job.ops).field("attempts", job.attempts);
  json.field("accepted_unix_ms", job.accepted_ms);
  if (job.started_ms > 0) json.field("started_unix_ms", job.started_ms);
  if (job.ended_ms > 0) json.field("ended_unix_ms", job.ended_ms);
  if (job.state == JobState::done) json.field("makespan_ns", job.makespan);
  if (!job.message.empty()) json.field("message", job.message);
  if (!job.client.empty()) json.field("client", job.client);
  json.close_object();
}

Api::Api(Daemon& daemon, Guard guard, ApiOptions options)
    : daemon_(daemon),
      guard_(std::move(guard)),
      options_(std::move(options)),
      started_ms_(wall_clock_ms()) {}

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
                                 "default-src 'none'; script-src 'unsafe-inline'; style-src "
                                 "'unsafe-inline'; connect-src 'self'; img-src data:; "
                                 "frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
      return counted(std::move(reply));
    }
    case Endpoint::health:
      return counted(health());
    case Endpoint::ready:
      return counted(readiness());
    case Endpoint::metrics:
      return counted(metrics());
    case Endpoint::overview:
      return counted(overview());
    case Endpoint::drain:
      return counted(drain());
    case Endpoint::jobs:
      return counted(head.method == "POST" ? submit(request) : list(head));
    case Endpoint::job: {
      const std::string id = head.path.substr(kJobs.size() + 1);
      return counted(head.method == "DELETE" ? cancel(id) : show(head, id));
    }
    case Endpoint::none:
      break;
  }
  return counted(refusal(404, "there is nothing at this address"));
}

HttpReply Api::submit(const HttpRequest& request) {
  const HttpHead& head = request.head;
  if (auto wrong = check_parameters(head, {"id", "priority"})) return *wrong;
  const auto priority = whole_of(head, "priority", 0, -kMostPriority, kMostPriority);
  if (!priority) return no_number("priority", -kMostPriority, kMostPriority);
  const std::string* const id = head.parameter("id");
  if (id != nullptr && id->empty()) return refusal(400, "the id is empty; leave it out");
  const SubmitAnswer answer =
      daemon_.submit(id == nullptr ? "" : *id, static_cast<int32_t>(*priority),
                     std::make_shared<const std::string>(request.body), request.client);
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
      return refusal(422, answer.sentence);
    case What::commands:
      return refusal(403, answer.sentence);
    case What::full:
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
  write_jobs("jobs", daemon_.list(*states, *before, *limit), json);
  json.close_object();
  return {.body = json.text()};
}

HttpReply Api::show(const HttpHead& head, const std::string& id) const {
  if (auto wrong = check_parameters(head, {"wait"})) return *wrong;
  const auto seconds = whole_of(head, "wait", 0, 0, kLongestWaitSeconds);
  if (!seconds) return no_number("wait", 0, kLongestWaitSeconds);
  const auto job = daemon_.wait(id, std::chrono::seconds(*seconds));
  if (!job) return refusal(404, "there is no job of that id");
  if (*seconds > 0 && !is_over(job->state)) {
    // A client that waits for what will not come would ask again at once.
    const DaemonFigures figures = daemon_.figures();
    if (!figures.broken.empty()) return later(503, journal_failed(figures.broken), 10);
    if (figures.stopping) return later(503, "the server is being stopped; ask it later", 10);
  }
  return with_job(200, *job);
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

HttpReply Api::overview() const {
  constexpr int64_t kShown = 20;
  const DaemonFigures figures = daemon_.figures();
  JsonWriter json(/*inline_depth=*/2);
  json.open_object().field("schema_version", 1).field("version", options_.version);
  json.field("machine", options_.machine).field("runtime", daemon_.runner().name());
  json.field("policy", daemon_.runner().policy()).field("started_unix_ms", started_ms_);
  json.field("now_unix_ms", wall_clock_ms()).field("draining", figures.draining);
  json.field("stopping", figures.stopping).field("broken", figures.broken);
  write_counts(figures, json);
  json.field("utilisation_what", daemon_.meter().what()).key("utilisation").open_list();
  for (const Utilisation& one : daemon_.meter().now()) {
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
  write_jobs("running", daemon_.list({JobState::running}, kLast, kShown), json);
  write_jobs("queue", daemon_.queue(kShown), json);
  write_jobs("over",
             daemon_.list({JobState::done, JobState::failed, JobState::cancelled}, kLast, kShown),
             json);
  json.close_object();
  return {.body = json.text()};
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
  text.histogram("tutti_job_wait_seconds", "From acceptance to the last start.",
                 figures.wait_seconds);
  text.histogram("tutti_job_run_seconds", "From the last start to the end.", figures.run_seconds);
  text.counter("tutti_decisions_total", "Ops that the policy placed.",
               daemon_.decisions().op_count());
  text.gauge("tutti_draining", "1 if no new jobs are taken.", figures.draining ? 1 : 0);
  text.gauge("tutti_journal_broken", "1 if the journal cannot be written.",
             figures.broken.empty() ? 0 : 1);
  text.gauge("tutti_journal_bytes", "Length of the journal.", real(figures.journal.bytes));
  text.counter("tutti_journal_records_total", "Records written.", figures.journal.records_total);
  text.counter("tutti_journal_syncs_total", "Times the disk was waited for.",
               figures.journal.syncs_total);
  text.counter("tutti_journal_rewrites_total", "Times the journal was rewritten.",
               figures.journal.rewrites_total);
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
  for (const Utilisation& one : daemon_.meter().now()) {
    for (const auto& [what, value] :
         {std::pair{"mean", one.mean}, {"low", one.low}, {"high", one.high}}) {
      text.sample("tutti_utilisation", {{"resource", one.resource}, {"what", what}}, value);
    }
  }
  return {.body = text.text(), .type = "text/plain; version=0.0.4; charset=utf-8"};
}

}  // namespace tutti
