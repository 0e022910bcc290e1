#include "tutti/serve/daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <utility>

#include "tutti/base/file/folder_lock.h"
#include "tutti/base/file/json_writer.h"

namespace tutti {
namespace {

constexpr const char* kCommandsRefused =
    "the graph starts programs, and this server runs none; its operator can allow that with "
    "--allow-commands";

double seconds_between(int64_t from_ms, int64_t to_ms) {
  return static_cast<double>(std::max<int64_t>(0, to_ms - from_ms)) / 1000;
}

SubmitAnswer refused(SubmitAnswer::What what, std::string sentence) {
  return {.what = what, .sentence = std::move(sentence)};
}

// The greatest number that a job's folder in runs/ has; 0 if there is none.
int64_t greatest_run(const std::string& folder) {
  int64_t greatest = 0;
  std::error_code error;
  std::filesystem::directory_iterator it(folder + "/runs", error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    int64_t number = 0;
    // "17", and "17.something" that was moved aside.
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    constexpr int64_t kMost = int64_t{1} << 60;
    const bool is_run = read.ec == std::errc{} && (*read.ptr == '\0' || *read.ptr == '.');
    if (is_run && number <= kMost) greatest = std::max(greatest, number);
  }
  return greatest;
}

constexpr const char* kStopping = "the server is being stopped; submit again when it is back";

}  // namespace

Daemon::Daemon(DaemonOptions options, std::unique_ptr<Runner> runner, std::unique_ptr<Meter> meter)
    : options_(std::move(options)),
      runner_(std::move(runner)),
      meter_(std::move(meter)),
      core_(options_.limits) {}

Result<std::unique_ptr<Daemon>> Daemon::open(DaemonOptions options, std::unique_ptr<Runner> runner,
                                             std::unique_ptr<Meter> meter) {
  std::unique_ptr<Daemon> daemon(
      new Daemon(std::move(options), std::move(runner), std::move(meter)));
  Daemon& self = *daemon;
  MutexLock lock(self.mutex_);
  const Result<void> made = make_private_folder(self.options_.folder);
  if (!made) return made.error();
  Result<std::unique_ptr<Journal>> journal = Journal::open(
      self.options_.folder,
      [&self](Record record) TUTTI_THREAD_ATTRIBUTE(no_thread_safety_analysis) {
        return self.core_.replay(std::move(record));
      },
      [&self](int64_t count, const Result<void>& good) { self.on_disk(count, good); });
  if (!journal) return journal.error();
  self.journal_ = std::move(*journal);
  const std::vector<JobFacts> last = self.core_.list({}, std::numeric_limits<int64_t>::max(), 1);
  if (!last.empty()) self.last_known_ = last.front().number;
  if (const Result<void> good = self.check_run_folders(); !good) return good.error();
  self.notices_ = self.journal_->notices();
  // A journal that was moved away or put back must not give numbers again: their folders are those
  // of other jobs.
  const int64_t greatest = greatest_run(self.options_.folder);
  if (self.core_.skip_numbers(greatest + 1)) {
    self.notices_.push_back(fmt::format(
        "{0}/journal: is older than {0}/runs, which has a job {1} that it does not know; numbers "
        "go on from {2}, and what other jobs left there stays theirs",
        self.options_.folder, greatest, greatest + 1));
  }
  if (!self.options_.run_log.empty()) {
    self.run_log_ =
        ::open(self.options_.run_log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (self.run_log_ < 0) {
      return invalid_input(
          fmt::format("{}: cannot be written: {}", self.options_.run_log, std::strerror(errno)));
    }
  }
  for (Record& record : self.core_.recovered(wall_clock_ms())) self.append(std::move(record));
  self.journal_->begin();
  for (int place = 0; place < self.runner_->places(); ++place) {
    self.threads_.emplace_back([&self, place] { self.work(place); });
  }
  return daemon;
}

Daemon::~Daemon() {
  stop(std::chrono::milliseconds(0));
  if (journal_ != nullptr) journal_->finish();
  if (run_log_ >= 0) ::close(run_log_);
}

void Daemon::stop(std::chrono::milliseconds grace) {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    work_.notify_all();
    const auto deadline = std::chrono::steady_clock::now() + grace;
    while (!runs_.empty() && std::chrono::steady_clock::now() < deadline) {
      changed_.wait_until(mutex_, deadline);
    }
    for (auto& [number, run] : runs_) run->stop.store(true);
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::string Daemon::run_folder(int64_t job) const {
  return fmt::format("{}/runs/{}", options_.folder, job);
}

Result<void> Daemon::check_run_folders() const {
  if (options_.adopt_runs) return {};
  const int64_t all = std::numeric_limits<int64_t>::max();
  for (const JobFacts& job : core_.list({}, all, all)) {
    const std::string folder = run_folder(job.number);
    if (is_over(job.state) || !is_unnamed_job_folder(folder)) continue;
    return invalid_input(fmt::format(
        "{}: does not say which job's folder it is, as those of tutti 0.1, and job '{}' of that "
        "number is open: start the server with --adopt-runs to complete it there, or remove the "
        "folder to run its commands again",
        folder, job.id));
  }
  return {};
}

int64_t Daemon::append(Record record) {
  journal_->append(std::move(record));
  return ++appended_;
}

bool Daemon::wait_for_disk(int64_t record) {
  while (on_disk_ < record && broken_.empty()) changed_.wait(mutex_);
  return on_disk_ >= record;
}

void Daemon::on_disk(int64_t count, const Result<void>& good) {
  MutexLock lock(mutex_);
  on_disk_ = count;
  for (const JobFacts& job : core_.journalled(count)) {
    if (job.started_ms == 0) continue;
    wait_seconds_.add(seconds_between(job.accepted_ms, job.started_ms));
    run_seconds_.add(seconds_between(job.started_ms, job.ended_ms));
  }
  if (!good) {
    broken_ = good.error().message;
    core_.give_up_records();
    if (options_.on_broken) options_.on_broken(broken_);
  }
  const JournalFigures journal = journal_->figures();
  if (broken_.empty() && journal.rewrites_total == rewrites_asked_ &&
      journal.bytes > std::max(options_.longest_journal, 2 * core_.snapshot_bytes())) {
    ++rewrites_asked_;
    journal_->replace(core_.snapshot());
  }
  changed_.notify_all();
  work_.notify_all();
}

SubmitAnswer Daemon::submit(const std::string& id, int32_t priority, Content content,
                            const std::string& client) {
  using What = SubmitAnswer::What;
  if (!id.empty()) {
    if (const Result<void> good = check_job_id(id); !good) {
      return refused(What::invalid, good.error().message);
    }
  }
  if (priority < -kMostPriority || priority > kMostPriority) {
    return refused(What::invalid, fmt::format("a priority is from {} to {}, and this is {}",
                                              -kMostPriority, kMostPriority, priority));
  }
  // A text of nothing but brackets takes a hundred times its length while it is read.
  constexpr size_t kLarge = size_t{256} << 10;
  std::optional<MutexLock> one_at_a_time;
  if (content->size() > kLarge) one_at_a_time.emplace(large_);
  const Result<Graph> graph = read_submission(*content, options_.make_graph, options_.most_ops);
  if (!graph) return refused(What::invalid, graph.error().message);
  if (graph->size() > options_.most_ops) {
    return refused(What::too_large, fmt::format("the graph has {} ops, and a job may have {} here",
                                                graph->size(), options_.most_ops));
  }
  if (!options_.allow_commands && graph->command_count() > 0) {
    return refused(What::commands, kCommandsRefused);
  }
  if (const Result<void> good = runner_->check(*graph); !good) {
    return refused(What::unrunnable, good.error().message);
  }
  if (options_.on_graph) options_.on_graph(*graph);
  one_at_a_time.reset();
  const Submission submission{id,    priority, graph->name(), graph->size(), std::move(content),
                              client};
  MutexLock lock(mutex_);
  if (!broken_.empty()) return refused(What::unavailable, "the journal has failed: " + broken_);
  if (stopping_) return refused(What::unavailable, kStopping);
  Submitted submitted = core_.submit(submission, wall_clock_ms());
  if (submitted.verdict == Submitted::Verdict::full) ++refused_total_;
  if (submitted.verdict != Submitted::Verdict::accepted &&
      submitted.verdict != Submitted::Verdict::known) {
    return refused_by(submitted.verdict, submitted.job);
  }
  const bool fresh = submitted.record.has_value();
  // Of a known job the record may be on its way.
  const int64_t record = fresh ? append(std::move(*submitted.record)) : appended_;
  if (!wait_for_disk(record)) {
    return refused(What::unavailable, "the journal has failed: " + broken_);
  }
  const auto facts = core_.find(submitted.job.id);
  return {.what = fresh ? What::accepted : What::known, .job = facts ? *facts : submitted.job};
}

SubmitAnswer Daemon::refused_by(Submitted::Verdict verdict, const JobFacts& other) const {
  using What = SubmitAnswer::What;
  if (verdict == Submitted::Verdict::conflict) {
    return {
        What::conflict, other,
        fmt::format("the id '{}' belongs to a job with another graph, priority or client; choose "
                    "another id",
                    other.id)};
  }
  if (verdict == Submitted::Verdict::draining) {
    return refused(What::draining, "the server is draining and takes no new jobs");
  }
  return refused(What::full,
                 fmt::format("the server has as many open jobs as it may ({} jobs or {} "
                             "of graphs); try again later",
                             options_.limits.open_jobs, bytes_to_text(options_.limits.open_bytes)));
}

CancelAnswer Daemon::cancel(const std::string& id) {
  using What = CancelAnswer::What;
  MutexLock lock(mutex_);
  if (!broken_.empty()) return {What::unavailable, {}, "the journal has failed: " + broken_};
  Cancelled cancelled = core_.cancel(id, wall_clock_ms());
  if (cancelled.verdict == Cancelled::Verdict::unknown) return {};
  if (cancelled.verdict == Cancelled::Verdict::over) return {What::over, cancelled.job};
  if (cancelled.verdict == Cancelled::Verdict::running) {
    const auto run = runs_.find(cancelled.job.number);
    if (run != runs_.end()) {
      run->second->cancelled = true;
      run->second->stop.store(true);
    }
  }
  const int64_t record = cancelled.record ? append(std::move(*cancelled.record)) : appended_;
  if (!wait_for_disk(record)) {
    return {What::unavailable, {}, "the journal has failed: " + broken_};
  }
  const auto facts = core_.find(id);
  if (facts) cancelled.job = *facts;
  if (cancelled.job.state == JobState::cancelled) return {What::cancelled, cancelled.job};
  return {is_over(cancelled.job.state) ? What::over : What::asked, cancelled.job};
}

void Daemon::drain() {
  MutexLock lock(mutex_);
  core_.drain();
}

std::optional<JobFacts> Daemon::find(const std::string& id) const {
  MutexLock lock(mutex_);
  return core_.find(id);
}

std::optional<JobFacts> Daemon::wait(const std::string& id, std::chrono::milliseconds time) const {
  const auto deadline = std::chrono::steady_clock::now() + time;
  MutexLock lock(mutex_);
  while (true) {
    std::optional<JobFacts> facts = core_.find(id);
    if (!facts || is_over(facts->state) || stopping_ || !broken_.empty() ||
        std::chrono::steady_clock::now() >= deadline) {
      return facts;
    }
    changed_.wait_until(mutex_, deadline);
  }
}

std::vector<JobFacts> Daemon::list(const std::set<JobState>& states, int64_t before,
                                   int64_t most) const {
  MutexLock lock(mutex_);
  return core_.list(states, before, most);
}

std::vector<JobFacts> Daemon::queue(int64_t most) const {
  MutexLock lock(mutex_);
  return core_.queue(most);
}

std::string Daemon::unready() const {
  MutexLock lock(mutex_);
  if (!broken_.empty()) return "the journal has failed";
  if (stopping_) return "the server is being stopped";
  if (core_.draining()) return "the server is draining";
  const CoreFigures& figures = core_.figures();
  if (figures.open() >= options_.limits.open_jobs ||
      figures.open_bytes >= options_.limits.open_bytes) {
    return "there are as many open jobs as there may be";
  }
  return "";
}

DaemonFigures Daemon::figures() const {
  MutexLock lock(mutex_);
  return {core_.figures(), journal_->figures(), wait_seconds_, run_seconds_,
          refused_total_,  core_.draining(),    stopping_,     broken_};
}

void Daemon::work(int place) {
  while (true) {
    std::optional<Started> started;
    Run run;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && broken_.empty() && !(started = core_.start(wall_clock_ms()))) {
        work_.wait(mutex_);
      }
      if (!started) return;
      append(std::move(started->record));
      runs_.emplace(started->job.number, &run);
    }
    decisions_.add({wall_clock_ms(), started->job.id, {}, {}, started->reason});
    log_run(started->job, "start", nullptr);
    const Outcome outcome = this->run(*started, place, run);
    log_run(started->job, "end", &outcome);
    MutexLock lock(mutex_);
    runs_.erase(started->job.number);
    const bool put_back = outcome.state != JobState::done && run.stop.load() && !run.cancelled;
    const int64_t record =
        append(put_back ? core_.put_back(started->job.number, wall_clock_ms())
                        : core_.end(started->job.number, outcome, wall_clock_ms()));
    changed_.notify_all();
    // So that a kill has at most one job in each place run again.
    wait_for_disk(record);
  }
}

Outcome Daemon::run(const Started& started, int place, const Run& run) {
  Result<RunReport> report = failed("memory ran out");
  try {
    const Result<Graph> graph =
        read_submission(*started.content, options_.make_graph, options_.most_ops);
    const RunContext context{
        .job = started.job.id,
        .folder = run_folder(started.job.number),
        .identity = {.journal = journal_->journal_id(),
                     .job = started.job.id,
                     .number = started.job.number,
                     .accepted_ms = started.job.accepted_ms,
                     .digest = digest_of(started.job.priority, *started.content)},
        .unnamed = options_.adopt_runs && started.job.number <= last_known_ ? Unnamed::taken_over
                                                                            : Unnamed::moved_aside,
        .note = options_.on_note,
        .place = place,
        .stop = Stop(&run.stop)};
    if (!graph) {
      report = graph.error();
    } else if (!options_.allow_commands && graph->command_count() > 0) {
      // Accepted by a server that allowed commands; this one does not.
      report = failed(kCommandsRefused);
    } else {
      report = runner_->run(*graph, context, decisions_);
    }
  } catch (const std::exception& error) {
    report = failed(error.what());
  }
  if (report) {
    meter_->note(*report);
    return {.state = JobState::done, .makespan = report->makespan};
  }
  if (run.stop.load()) return {.state = JobState::cancelled};
  return {.state = JobState::failed, .message = report.error().message};
}

// One line in one write, so that no part of it can be missing.
void Daemon::log_run(const JobFacts& job, const char* event, const Outcome* outcome) {
  if (run_log_ < 0) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  JsonWriter json(/*inline_depth=*/0);  // a line
  json.open_object().field("job", job.id).field("attempt", job.attempts).field("event", event);
  json.field("unix_ns", std::chrono::duration_cast<std::chrono::nanoseconds>(now));
  if (outcome != nullptr) {
    json.field("state", to_text(outcome->state)).field("makespan_ns", outcome->makespan);
    if (!outcome->message.empty()) json.field("message", outcome->message);
  }
  json.close_object();
  [[maybe_unused]] const ssize_t written =
      ::write(run_log_, json.text().data(), json.text().size());
}

}  // namespace tutti
