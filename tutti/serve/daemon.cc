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

double seconds_between(int64_t from_ms, int64_t to_ms) {
  return static_cast<double>(std::max<int64_t>(0, to_ms - from_ms)) / 1000;
}

// The greatest number of a job that an entry of that folder is named by; 0 if there is none.
int64_t greatest_number(const std::string& folder) {
  int64_t greatest = 0;
  std::error_code error;
  std::filesystem::directory_iterator it(folder, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    int64_t number = 0;
    // "17", "17.job", and "17.something" that was moved aside.
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    constexpr int64_t kMost = int64_t{1} << 60;
    const bool is_run = read.ec == std::errc{} && (*read.ptr == '\0' || *read.ptr == '.');
    if (is_run && number <= kMost) greatest = std::max(greatest, number);
  }
  return greatest;
}

}  // namespace

Daemon::Daemon(DaemonOptions options, ClientShares& shares, std::unique_ptr<Runner> runner,
               std::unique_ptr<Meter> meter)
    : options_(std::move(options)),
      shares_(shares),
      meter_(std::move(meter)),
      core_(options_.limits, &shares),
      runner_(std::move(runner)) {}

Result<std::unique_ptr<Daemon>> Daemon::open(DaemonOptions options, ClientShares& shares,
                                             std::unique_ptr<Runner> runner,
                                             std::unique_ptr<Meter> meter) {
  std::unique_ptr<Daemon> daemon(
      new Daemon(std::move(options), shares, std::move(runner), std::move(meter)));
  Daemon& self = *daemon;
  MutexLock lock(self.mutex_);
  self.shares_.set_rules(self.options_.clients.shares);
  self.name_devices();
  self.core_.set_client_limits(self.options_.clients.open_jobs);
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
  const std::string histories = self.options_.folder + "/history";
  const int64_t greatest =
      std::max(greatest_number(self.options_.folder + "/runs"), greatest_number(histories));
  if (self.core_.skip_numbers(greatest + 1)) {
    self.notices_.push_back(fmt::format(
        "{0}/journal: is older than {0}/runs or {0}/history, which has a job {1} that it does not "
        "know; numbers go on from {2}, and what other jobs left there stays theirs",
        self.options_.folder, greatest, greatest + 1));
  }
  // What a job left in runs/ goes with its history.
  Result<std::unique_ptr<History>> history = History::open(
      histories, self.options_.history, [&self](int64_t job) { self.remove_run_folder(job); });
  if (!history) return history.error();
  self.history_ = std::move(*history);
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
  self.start_threads();
  self.deadlines_ = std::thread([&self] { self.watch_deadlines(); });
  return daemon;
}

void Daemon::name_devices() {
  std::vector<std::string> names;
  const Machine& machine = runner_->machine();
  for (const DeviceId id : machine.devices()) names.push_back(machine.device(id).name);
  shares_.set_devices(names);
}

void Daemon::start_threads() {
  while (static_cast<int>(threads_.size()) < runner_->places()) {
    const auto place = static_cast<int>(threads_.size());
    threads_.emplace_back([this, place] { work(place); });
  }
}

Daemon::~Daemon() {
  stop(std::chrono::milliseconds(0));
  if (journal_ != nullptr) journal_->finish();  // which may give the history jobs that are over
  history_.reset();                             // its records refer to the runner's machine
  if (run_log_ >= 0) ::close(run_log_);
}

void Daemon::stop(std::chrono::milliseconds grace) {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    work_.notify_all();
    deadline_.notify_all();
    const auto deadline = std::chrono::steady_clock::now() + grace;
    while (!runs_.empty() && std::chrono::steady_clock::now() < deadline) {
      changed_.wait_until(mutex_, deadline);
    }
    for (auto& [number, run] : runs_) run->stop.store(true);
  }
  if (deadlines_.joinable()) deadlines_.join();
  // No thread is added once stopping.
  std::vector<std::thread> threads;
  {
    MutexLock lock(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

std::string Daemon::run_folder(int64_t job) const {
  return fmt::format("{}/runs/{}", options_.folder, job);
}

void Daemon::remove_run_folder(int64_t job) {
  {
    MutexLock lock(mutex_);
    if (core_.content_of(job) != nullptr) return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(run_folder(job), ignored);
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
  if (options_.on_synced) options_.on_synced(journal_->figures());
  MutexLock lock(mutex_);
  on_disk_ = count;
  for (OverJob& over : core_.journalled(count)) {
    const JobFacts& job = over.job;
    drop_prepared(job.number);
    // The thread that ran a job has more to say about it.
    if (!over.was_running) keep(job, std::move(over.content), *runner_, nullptr);
    if (job.started_ms == 0) continue;
    wait_seconds_.add(seconds_between(job.accepted_ms, job.started_ms));
    run_seconds_.add(seconds_between(job.started_ms, job.ended_ms));
  }
  for (const int64_t job : core_.take_forgotten()) history_->forget(job);
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
  wake_workers();
  changed_.notify_all();
}

// Not more than there are jobs: a thread that wakes for nothing delays those that have a job.
void Daemon::wake_workers() {
  // A thread whose place is gone since a reload would take the wake-up of another.
  const bool surplus = static_cast<int>(threads_.size()) > runner_->places();
  if (!broken_.empty() || next_runner_ != nullptr || surplus) return work_.notify_all();
  const int64_t free = std::max<int64_t>(0, runner_->places() - static_cast<int64_t>(runs_.size()));
  for (int64_t i = std::min(core_.figures().queued, free); i > 0; --i) work_.notify_one();
}

void Daemon::drop_prepared(int64_t job) {
  const auto found = prepared_.find(job);
  if (found == prepared_.end()) return;
  prepared_ops_ -= found->second.graph->size();
  prepared_.erase(found);
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

void Daemon::work(int place) {
  // Quotas are in device time: no event says when there is some again.
  constexpr auto kBetweenLooks = std::chrono::milliseconds(20);
  while (true) {
    std::shared_ptr<Runner> old;  // goes without the lock
    std::optional<Started> started;
    std::shared_ptr<Runner> runner;
    PreparedJob prepared;
    Run run;
    {
      MutexLock lock(mutex_);
      while (!stopping_ && broken_.empty()) {
        if (old == nullptr) old = take_over();
        const bool mine = place < runner_->places() && next_runner_ == nullptr;
        if (mine) {
          started = core_.start(wall_clock_ms(), runner_->share_time(),
                                runner_->simulated() && runs_.empty(), runner_->places());
        }
        if (started || old != nullptr) break;
        if (mine && core_.figures().queued > 0) {
          work_.wait_for(mutex_, kBetweenLooks);
        } else {
          work_.wait(mutex_);
        }
      }
      if (!started && old == nullptr) return;
      if (started) {
        append(std::move(started->record));
        runs_.emplace(started->job.number, &run);
        runner = runner_;
        const auto found = prepared_.find(started->job.number);
        if (found != prepared_.end()) prepared = found->second;
        drop_prepared(started->job.number);
      }
    }
    old = nullptr;
    if (!started) continue;
    decisions_.add({wall_clock_ms(), started->job.id, {}, {}, started->reason});
    log_run(started->job, "start", nullptr);
    std::shared_ptr<const RunRecord> recorded;
    const Outcome outcome = this->run(*started, *runner, std::move(prepared), run, recorded);
    log_run(started->job, "end", &outcome);
    {
      MutexLock lock(mutex_);
      runs_.erase(started->job.number);
      if (started->account != nullptr) shares_.leave(*started->account);
      const bool put_back =
          outcome.state != JobState::done && run.stop.load() && !run.cancelled && !run.missed;
      const int64_t record =
          append(put_back ? core_.put_back(started->job.number, wall_clock_ms())
                          : core_.end(started->job.number, outcome, wall_clock_ms()));
      changed_.notify_all();
      if (next_runner_ != nullptr) work_.notify_all();
      // So that a kill has at most one job in each place run again.
      wait_for_disk(record);
    }
    const std::optional<JobFacts> facts = find(started->job.id);
    if (facts && facts->number == started->job.number && is_over(facts->state))
      keep(*facts, started->content, *runner, std::move(recorded));
  }
}

void Daemon::keep(const JobFacts& job, Content content, const Runner& runner,
                  std::shared_ptr<const RunRecord> record) {
  history_->keep({.facts = job,
                  .content = std::move(content),
                  .runtime = runner.name(),
                  .policy = runner.policy(),
                  .machine = runner.machine().name(),
                  .run = std::move(record)});
}

Result<std::shared_ptr<const Problem>> Daemon::problem_of(const KeptJob& kept) const {
  std::shared_ptr<Runner> runner;
  {
    MutexLock lock(mutex_);
    runner = runner_;
  }
  Result<Graph> graph = read_submission(kept.submission, options_.make_graph, options_.most_ops);
  if (!graph) return graph.error();
  const Result<PreparedJob> prepared = runner->prepare(std::move(*graph));
  if (!prepared) return prepared.error();
  if (prepared->job == nullptr) return failed("its ops are programs, which have no timeline here");
  return std::shared_ptr<const Problem>(prepared->job, &prepared->job->problem());
}

Outcome Daemon::run(const Started& started, Runner& runner, PreparedJob prepared, const Run& run,
                    std::shared_ptr<const RunRecord>& record) {
  Result<RunReport> report = failed("memory ran out");
  try {
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
        .account = started.account,
        .stop = Stop(&run.stop)};
    // One that was accepted by an earlier server, or when there were very many, is read again.
    std::optional<SubmitAnswer> refusal;
    if (prepared.graph == nullptr) refusal = prepare(runner, *started.content, prepared);
    report = refusal ? Result<RunReport>(failed(refusal->sentence))
                     : runner.run(prepared, context, decisions_);
  } catch (const std::exception& error) {
    report = failed(error.what());
  }
  if (report) {
    // Of commands there is a trace alone.
    if (report->record.job != nullptr)
      record = std::make_shared<const RunRecord>(run_record(report->record));
    return {.state = JobState::done, .makespan = report->makespan};
  }
  MutexLock lock(mutex_);
  if (run.missed && !run.cancelled) {
    return {.state = JobState::failed, .message = "deadline missed: it was running until then"};
  }
  if (run.stop.load()) return {.state = JobState::cancelled};
  return {.state = JobState::failed, .message = report.error().message};
}

void Daemon::watch_deadlines() {
  MutexLock lock(mutex_);
  while (!stopping_ && broken_.empty()) {
    const int64_t now_ms = wall_clock_ms();
    Expired expired = core_.expire(now_ms);
    for (Record& record : expired.records) append(std::move(record));
    for (const int64_t number : expired.running) {
      const auto found = runs_.find(number);
      if (found == runs_.end()) continue;
      found->second->missed = true;
      found->second->stop.store(true);
    }
    const int64_t next = core_.next_deadline();
    if (next == 0) {
      deadline_.wait(mutex_);
    } else {
      // The clock may be set meanwhile.
      const int64_t left = std::clamp<int64_t>(next - wall_clock_ms(), 1, 1000);
      deadline_.wait_for(mutex_, std::chrono::milliseconds(left));
    }
  }
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
