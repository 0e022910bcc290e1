// What a Daemon takes in: submissions, and reloads, which change the runner that jobs are prepared
// for.

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "tutti/serve/daemon.h"

namespace tutti {
namespace {

constexpr const char* kCommandsRefused =
    "the graph starts programs, and this server runs none; its operator can allow that with "
    "--allow-commands";
constexpr const char* kStopping = "the server is being stopped; submit again when it is back";

SubmitAnswer refused(SubmitAnswer::What what, std::string sentence) {
  return {.what = what, .sentence = std::move(sentence)};
}

std::optional<SubmitAnswer> refused_terms(const SubmitTerms& terms) {
  using What = SubmitAnswer::What;
  if (!terms.id.empty()) {
    if (const Result<void> good = check_job_id(terms.id); !good) {
      return refused(What::invalid, good.error().message);
    }
  }
  if (terms.priority < -kMostPriority || terms.priority > kMostPriority) {
    return refused(What::invalid,
                   fmt::format("priority is from {} to {}", -kMostPriority, kMostPriority));
  }
  return std::nullopt;
}

}  // namespace

const std::shared_ptr<Runner>& Daemon::runner_of_new_jobs() const {
  return next_runner_ != nullptr ? next_runner_ : runner_;
}

std::optional<SubmitAnswer> Daemon::prepare(const Runner& runner, const std::string& content,
                                            PreparedJob& prepared) {
  using What = SubmitAnswer::What;
  Result<Graph> graph = read_submission(content, options_.make_graph, options_.most_ops);
  if (!graph) return refused(What::invalid, graph.error().message);
  if (graph->size() > options_.most_ops) {
    return refused(What::too_large, fmt::format("the graph has {} ops, and a job may have {} here",
                                                graph->size(), options_.most_ops));
  }
  if (!options_.allow_commands && graph->command_count() > 0) {
    return refused(What::commands, kCommandsRefused);
  }
  Result<PreparedJob> made = runner.prepare(std::move(*graph));
  if (!made) return refused(What::unrunnable, made.error().message);
  prepared = std::move(*made);
  return std::nullopt;
}

SubmitAnswer Daemon::submit(const SubmitTerms& terms, Content content) {
  if (auto refusal = refused_terms(terms)) return std::move(*refusal);
  // Before it is read: what was accepted once stays so, whatever the server would refuse now.
  if (auto known = find_known(terms, content)) return std::move(*known);
  while (true) {
    std::shared_ptr<Runner> runner;
    {
      MutexLock lock(mutex_);
      runner = runner_of_new_jobs();
    }
    PreparedJob prepared;
    auto answer = prepare_new(*runner, terms, *content, prepared);
    if (!answer) {
      answer = take_in(terms, content, runner, std::move(prepared));
      if (answer) return std::move(*answer);
      continue;
    }
    MutexLock lock(mutex_);
    if (runner == runner_of_new_jobs()) return std::move(*answer);
  }
}

std::optional<SubmitAnswer> Daemon::find_known(const SubmitTerms& terms, const Content& content) {
  MutexLock lock(mutex_);
  if (!broken_.empty() || stopping_) return std::nullopt;
  const Submission submission{.id = terms.id,
                              .priority = terms.priority,
                              .graph = {},
                              .content = content,
                              .client = terms.client};
  const std::optional<Submitted> known = core_.known(submission);
  if (!known) return std::nullopt;
  if (known->verdict != Submitted::Verdict::known) return refused_by(known->verdict, known->job);
  // Its record may be on its way.
  return acknowledged(SubmitAnswer::What::known, known->job, appended_);
}

std::optional<SubmitAnswer> Daemon::prepare_new(const Runner& runner, const SubmitTerms& terms,
                                                const std::string& content, PreparedJob& prepared) {
  // A text of nothing but brackets takes a hundred times its length while it is read.
  constexpr size_t kLarge = size_t{256} << 10;
  std::optional<MutexLock> one_at_a_time;
  if (content.size() > kLarge) one_at_a_time.emplace(large_);
  if (auto refusal = prepare(runner, content, prepared)) return refusal;
  if (options_.on_graph) options_.on_graph(*prepared.graph);
  const std::chrono::milliseconds deadline(terms.deadline_in_ms);
  // Simulated time says nothing about a deadline of the clock.
  if (terms.deadline_in_ms == 0 || runner.simulated() || prepared.least <= deadline)
    return std::nullopt;
  return refused(SubmitAnswer::What::too_late,
                 fmt::format("the deadline is in {}, and the job takes at least {} with the "
                             "machine to itself; allow more time",
                             to_text(deadline), to_text(prepared.least)));
}

std::optional<SubmitAnswer> Daemon::take_in(const SubmitTerms& terms, const Content& content,
                                            const std::shared_ptr<Runner>& runner,
                                            PreparedJob prepared) {
  using What = SubmitAnswer::What;
  const int64_t now_ms = wall_clock_ms();
  const Submission submission{terms.id,
                              terms.priority,
                              prepared.graph->name(),
                              prepared.graph->size(),
                              content,
                              terms.client,
                              terms.deadline_in_ms > 0 ? now_ms + terms.deadline_in_ms : 0,
                              prepared.work,
                              prepared.graph->command_count() > 0};
  MutexLock lock(mutex_);
  while (reload_ == Reload::settles && !stopping_ && broken_.empty()) changed_.wait(mutex_);
  if (!broken_.empty()) return refused(What::unavailable, "the journal has failed: " + broken_);
  if (stopping_) return refused(What::unavailable, kStopping);
  if (runner != runner_of_new_jobs()) return std::nullopt;
  Submitted submitted = core_.submit(submission, now_ms);
  using Verdict = Submitted::Verdict;
  refused_total_ += submitted.verdict == Verdict::full || submitted.verdict == Verdict::quota;
  if (submitted.verdict == Verdict::known) {
    return acknowledged(What::known, submitted.job, appended_);
  }
  if (submitted.verdict != Verdict::accepted) return refused_by(submitted.verdict, submitted.job);
  constexpr int64_t kMostPreparedOps = 1'000'000;
  const int64_t ops = prepared.graph->size();
  if (prepared_ops_ + ops <= kMostPreparedOps) {
    prepared_ops_ += ops;
    prepared_.emplace(submitted.job.number, std::move(prepared));
  }
  if (submission.deadline_ms > 0) deadline_.notify_all();
  return acknowledged(What::accepted, submitted.job, append(std::move(*submitted.record)));
}

SubmitAnswer Daemon::acknowledged(SubmitAnswer::What what, const JobFacts& job, int64_t record) {
  if (!wait_for_disk(record)) {
    return refused(SubmitAnswer::What::unavailable, "the journal has failed: " + broken_);
  }
  const auto facts = core_.find(job.id);
  return {.what = what, .job = facts ? *facts : job};
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
  if (verdict == Submitted::Verdict::quota) {
    const auto limit = options_.clients.open_jobs.named.find(other.client);
    const int64_t most = limit == options_.clients.open_jobs.named.end()
                             ? options_.clients.open_jobs.usual
                             : limit->second;
    const std::string whose =
        other.client.empty()
            ? "there are as many open jobs without a client as there may be"
            : fmt::format("client '{}' has as many open jobs as it may", other.client);
    return refused(What::quota,
                   fmt::format("{} ({}); try again when one of them is over", whose, most));
  }
  return refused(What::full,
                 fmt::format("the server has as many open jobs as it may ({} jobs or {} "
                             "of graphs); try again later",
                             options_.limits.open_jobs, bytes_to_text(options_.limits.open_bytes)));
}

void Daemon::set_clients(ClientRules rules) {
  MutexLock lock(mutex_);
  options_.clients = std::move(rules);
  shares_.set_rules(options_.clients.shares);
  core_.set_client_limits(options_.clients.open_jobs);
  runner_->rules_changed();
  work_.notify_all();
}

// Two rounds: jobs that come during the first are few, and submissions wait for the second, so that
// no job gets in unchecked.
Result<void> Daemon::reload(std::unique_ptr<Runner> runner) {
  const std::shared_ptr<Runner> next = std::move(runner);
  {
    MutexLock lock(mutex_);
    if (stopping_) return failed(kStopping);
    if (reload_ != Reload::none || next_runner_ != nullptr) {
      return failed("a reload is under way: running jobs end first; try again later");
    }
    reload_ = Reload::checks;
  }
  int64_t checked = 0;
  Result<void> good = check_queued(*next, checked);
  if (good) {
    {
      MutexLock lock(mutex_);
      reload_ = Reload::settles;
    }
    good = check_queued(*next, checked);
  }
  std::shared_ptr<Runner> old;  // goes without the lock
  MutexLock lock(mutex_);
  reload_ = Reload::none;
  changed_.notify_all();
  if (!good) return good;
  if (stopping_) return failed(kStopping);
  next_runner_ = next;
  // What was prepared for the old one is no use to the new one.
  prepared_.clear();
  prepared_ops_ = 0;
  old = take_over();
  work_.notify_all();
  return {};
}

Result<void> Daemon::check_queued(const Runner& runner, int64_t& checked) {
  std::vector<std::pair<JobFacts, Content>> queued;
  {
    MutexLock lock(mutex_);
    const int64_t all = std::numeric_limits<int64_t>::max();
    for (JobFacts& job : core_.list({JobState::accepting, JobState::queued}, all, all)) {
      if (job.number <= checked) break;  // the latest come first
      Content content = core_.content_of(job.number);
      queued.emplace_back(std::move(job), std::move(content));
    }
  }
  for (const auto& [job, content] : queued) {
    checked = std::max(checked, job.number);
    PreparedJob prepared;
    const auto refusal = prepare(runner, *content, prepared);
    if (!refusal) continue;
    MutexLock lock(mutex_);
    const std::optional<JobFacts> now = core_.find(job.id);
    const bool waits = now && now->number == job.number &&
                       (now->state == JobState::accepting || now->state == JobState::queued);
    if (!waits) continue;  // it runs, or is over
    return invalid_input(fmt::format(
        "job '{}' is queued and could not be run then: {}; cancel it, or reload when it is over",
        job.id, refusal->sentence));
  }
  return {};
}

std::shared_ptr<Runner> Daemon::take_over() {
  if (next_runner_ == nullptr || !runs_.empty() || stopping_) return nullptr;
  std::shared_ptr<Runner> old = std::move(runner_);
  runner_ = std::move(next_runner_);
  next_runner_ = nullptr;
  ++reloads_total_;
  name_devices();
  start_threads();
  work_.notify_all();
  return old;
}

}  // namespace tutti
