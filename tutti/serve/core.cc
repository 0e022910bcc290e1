#include "tutti/serve/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tutti/base/check.h"
#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

// Of a record's frame and whole numbers, to tell how large a journal would be.
constexpr int64_t kRecordBytes = 128;

Error contradiction(const Record& record, const char* what) {
  return invalid_input(fmt::format("job number {} {}", record.job, what));
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

}  // namespace

uint64_t digest_of(int32_t priority, std::string_view content) {
  Fingerprint fingerprint;
  fingerprint.add(priority);
  fingerprint.add(content);
  return fingerprint.value();
}

Core::Job& Core::at(int64_t number) {
  const auto found = jobs_.find(number);
  TUTTI_CHECK(found != jobs_.end());
  return found->second;
}

int64_t& Core::count_of(JobState state) {
  switch (state) {
    case JobState::accepting:
      return figures_.accepting;
    case JobState::queued:
      return figures_.queued;
    case JobState::running:
      return figures_.running;
    default:
      return figures_.kept;
  }
}

void Core::become(Job& job, JobState state) {
  --count_of(job.facts.state);
  job.facts.state = state;
  ++count_of(state);
}

void Core::set_client_limits(ClientLimits limits) {
  client_limits_ = std::move(limits);
  // Whether there is one queue or one for each client may have changed.
  queues_.clear();
  for (auto& [number, job] : jobs_) {
    if (job.facts.state != JobState::queued || job.ending) continue;
    Queue& queue = queues_[queue_of(job)];
    (job.commands ? queue.programs : queue.jobs).insert(rank_of(job));
  }
}

Core::Rank Core::rank_of(const Job& job) {
  const int64_t deadline = job.facts.deadline_ms;
  return {-job.facts.priority, deadline > 0 ? deadline : std::numeric_limits<int64_t>::max(),
          job.facts.number};
}

std::string Core::queue_of(const Job& job) const {
  return shares_ != nullptr && shares_->divides() ? job.facts.client : std::string();
}

void Core::enqueue(Job& job) {
  become(job, JobState::queued);
  Queue& queue = queues_[queue_of(job)];
  (job.commands ? queue.programs : queue.jobs).insert(rank_of(job));
}

void Core::dequeue(const Job& job) {
  const auto found = queues_.find(queue_of(job));
  if (found == queues_.end()) return;
  (job.commands ? found->second.programs : found->second.jobs).erase(rank_of(job));
  if (found->second.empty()) queues_.erase(found);
}

std::optional<Core::Rank> Core::first_of(const Queue& queue) const {
  std::optional<Rank> first;
  if (!queue.jobs.empty()) first = *queue.jobs.begin();
  if (programs_ == 0 && !queue.programs.empty()) {
    if (!first || *queue.programs.begin() < *first) first = *queue.programs.begin();
  }
  return first;
}

void Core::open(Job& job) {
  figures_.open_bytes += static_cast<int64_t>(job.content->size());
  ++figures_.accepting;
  ++client_of(job).open;
  if (job.facts.deadline_ms > 0) deadlines_.emplace(job.facts.deadline_ms, job.facts.number);
  if (shares_ == nullptr) return;
  job.client = shares_->client(job.facts.client);
  shares_->job_opened(job.client, shares_->latest());
}

void Core::close(Job& job) {
  figures_.open_bytes -= static_cast<int64_t>(job.content->size());
  --client_of(job).open;
  deadlines_.erase({job.facts.deadline_ms, job.facts.number});
  if (shares_ != nullptr) shares_->job_closed(job.client);
}

std::string Core::reason_for(const Job& job, const Queue& queue, Duration share_time) const {
  const std::set<Rank>& ranks = job.commands ? queue.programs : queue.jobs;
  const auto next = std::next(ranks.find(rank_of(job)));
  std::string reason = "the only job queued";
  if (next != ranks.end()) {
    const auto [priority, deadline, number] = *next;
    if (-priority != job.facts.priority) {
      reason = fmt::format("its priority {} is the greatest of {} queued jobs", job.facts.priority,
                           queue.size());
    } else {
      reason = fmt::format(
          "{} of those with priority {}; {} jobs were queued",
          deadline != std::get<1>(rank_of(job)) ? "its deadline is the first" : "it came first",
          job.facts.priority, queue.size());
    }
  }
  if (shares_ == nullptr || !shares_->divides()) return reason;
  const ClientShare share = shares_->share(job.client, share_time);
  return fmt::format(
      "{}; client '{}' goes next: it had {} of the device time of late, and its "
      "share is {}",
      reason, share.name, percent(share.share), percent(share.entitled));
}

Result<void> Core::replay_accepted(Record record) {
  if (record.job < next_number_) return contradiction(record, "was accepted before");
  if (by_id_.contains(record.id)) {
    return invalid_input(fmt::format("the id '{}' was given twice", record.id));
  }
  next_number_ = record.job + 1;
  Job job;
  job.facts = {.number = record.job,
               .id = std::move(record.id),
               .priority = record.priority,
               .graph = std::move(record.graph),
               .ops = record.ops,
               .attempts = record.attempts,
               .accepted_ms = record.time_ms,
               .started_ms = record.started_ms,
               .client = std::move(record.client),
               .deadline_ms = record.deadline_ms,
               .work = record.work};
  job.digest = record.digest;
  job.content = std::move(record.content);
  job.commands = record.commands;
  open(job);
  by_id_.emplace(job.facts.id, record.job);
  enqueue(jobs_.emplace(record.job, std::move(job)).first->second);
  return {};
}

Result<void> Core::replay(Record record) {
  if (record.kind == Record::Kind::numbered) {
    if (record.job < next_number_) return contradiction(record, "is not the next");
    next_number_ = record.job;
    return {};
  }
  if (record.kind == Record::Kind::accepted) return replay_accepted(std::move(record));
  const auto found = jobs_.find(record.job);
  if (found == jobs_.end()) return contradiction(record, "was never accepted");
  Job& job = found->second;
  if (is_over(job.facts.state)) return contradiction(record, "was over already");
  if (record.kind == Record::Kind::cancel) {
    job.cancel_asked = true;
    return {};
  }
  dequeue(job);
  if (record.kind == Record::Kind::started) {
    ++job.facts.attempts;
    job.facts.started_ms = record.time_ms;
    become(job, JobState::running);
    return {};
  }
  if (record.kind == Record::Kind::returned) {
    job.facts.attempts = std::max(0, job.facts.attempts - 1);
    enqueue(job);
    return {};
  }
  finish(job, {record.outcome, record.time_ms});
  return {};
}

bool Core::skip_numbers(int64_t below) {
  if (below <= next_number_) return false;
  next_number_ = below;
  return true;
}

std::vector<Record> Core::recovered(int64_t now_ms) {
  std::vector<Record> records = {{.kind = Record::Kind::numbered, .job = next_number_}};
  pending_.push_back({0, Waits::nothing});
  for (auto& [number, job] : jobs_) {
    if (is_over(job.facts.state)) continue;
    const bool was_running = job.facts.state == JobState::running;
    if (was_running) enqueue(job);
    if (job.cancel_asked) {
      dequeue(job);
      records.push_back(end_of(job, {.state = JobState::cancelled}, now_ms));
    } else if (was_running && job.facts.attempts >= limits_.attempts) {
      dequeue(job);
      records.push_back(
          end_of(job,
                 {.state = JobState::failed,
                  .message = fmt::format("given up: it was running each of the {} times the server "
                                         "died after starting it",
                                         job.facts.attempts)},
                 now_ms));
    }
  }
  return records;
}

std::optional<Submitted> Core::known(const Submission& submission) const {
  const auto known = by_id_.find(submission.id);
  if (submission.id.empty() || known == by_id_.end()) return std::nullopt;
  const Job& job = jobs_.at(known->second);
  // Jobs of tutti 0.1, and of servers without tokens, have no client.
  const bool foreign = !job.facts.client.empty() && !submission.client.empty() &&
                       job.facts.client != submission.client;
  const bool same = job.digest == digest_of(submission.priority, *submission.content) && !foreign;
  return Submitted{same ? Submitted::Verdict::known : Submitted::Verdict::conflict, job.facts};
}

Submitted Core::submit(const Submission& submission, int64_t now_ms) {
  if (auto known = this->known(submission)) return std::move(*known);
  if (draining_) return {Submitted::Verdict::draining};
  const auto bytes = static_cast<int64_t>(submission.content->size());
  if (figures_.open() >= limits_.open_jobs || figures_.open_bytes + bytes > limits_.open_bytes) {
    return {Submitted::Verdict::full};
  }
  const auto limited = client_limits_.named.find(submission.client);
  const int64_t most =
      limited == client_limits_.named.end() ? client_limits_.usual : limited->second;
  const auto client = figures_.clients.find(submission.client);
  if (client != figures_.clients.end() && client->second.open >= most) {
    Submitted refused{Submitted::Verdict::quota};
    refused.job.client = submission.client;
    return refused;
  }
  const int64_t number = next_number_++;
  Job job;
  job.facts = {.number = number,
               .id = submission.id.empty() ? fmt::format("job-{}", number) : submission.id,
               .priority = submission.priority,
               .graph = submission.graph,
               .ops = submission.ops,
               .accepted_ms = now_ms,
               .client = submission.client,
               .deadline_ms = submission.deadline_ms,
               .work = submission.work};
  job.digest = digest_of(submission.priority, *submission.content);
  job.content = submission.content;
  job.commands = submission.commands;
  open(job);
  by_id_.emplace(job.facts.id, number);
  const Job& kept = jobs_.emplace(number, std::move(job)).first->second;
  hand_out(kept, Waits::acceptance);
  return {Submitted::Verdict::accepted, kept.facts, accepted_record(kept)};
}

Cancelled Core::cancel(std::string_view id, int64_t now_ms) {
  const auto known = by_id_.find(std::string(id));
  if (known == by_id_.end()) return {};
  Job& job = at(known->second);
  if (is_over(job.facts.state)) return {Cancelled::Verdict::over, job.facts};
  if (job.cancel_asked || job.ending) return {Cancelled::Verdict::asked, job.facts};
  job.cancel_asked = true;
  Record record{.kind = Record::Kind::cancel, .job = job.facts.number, .time_ms = now_ms};
  if (job.facts.state == JobState::running) {
    hand_out(job, Waits::nothing);
    return {Cancelled::Verdict::running, job.facts, std::move(record)};
  }
  dequeue(job);
  job.ending = Ending{{.state = JobState::cancelled}, now_ms};
  hand_out(job, Waits::end);
  return {Cancelled::Verdict::queued, job.facts, std::move(record)};
}

std::optional<Started> Core::start(int64_t now_ms, Duration share_time, bool even_held,
                                   int64_t places) {
  if (queues_.empty()) return std::nullopt;
  const Queue* queue = nullptr;
  std::optional<Rank> first;
  const auto look = [&](const std::string& name) {
    const auto found = queues_.find(name);
    if (found == queues_.end()) return false;
    queue = &found->second;
    first = first_of(*queue);
    return first.has_value();
  };
  if (shares_ == nullptr || !shares_->divides()) {
    look("");
  } else {
    shares_->order(share_time, /*places=*/true, order_);
    const bool last = places > 1 && shares_->placed_with_quota() >= places - 1;
    for (const int32_t client : order_) {
      if (last && shares_->has_quota(client)) continue;
      if (look(shares_->name(client))) break;
    }
    for (auto it = queues_.begin(); even_held && !first && it != queues_.end(); ++it) {
      look(it->first);
    }
  }
  if (!first) return std::nullopt;
  Job& job = at(std::get<2>(*first));
  std::string reason = reason_for(job, *queue, share_time);
  dequeue(job);
  become(job, JobState::running);
  programs_ += job.commands ? 1 : 0;
  ++job.facts.attempts;
  job.facts.started_ms = now_ms;
  hand_out(job, Waits::nothing);
  Started started{job.facts,
                  job.content,
                  {.kind = Record::Kind::started, .job = job.facts.number, .time_ms = now_ms},
                  std::move(reason)};
  if (shares_ != nullptr) {
    started.account = std::make_shared<JobAccount>(shares_->enter(job.client, job.facts.work));
  }
  return started;
}

Expired Core::expire(int64_t now_ms) {
  Expired expired;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now_ms) {
    Job& job = at(deadlines_.begin()->second);
    deadlines_.erase(deadlines_.begin());
    if (job.ending || job.cancel_asked) continue;
    ++figures_.missed_total;
    if (job.facts.state == JobState::running) {
      expired.running.push_back(job.facts.number);
      continue;
    }
    dequeue(job);
    expired.records.push_back(end_of(
        job, {.state = JobState::failed, .message = "deadline missed: it was queued until then"},
        now_ms));
  }
  return expired;
}

std::string Core::why_queued(const JobFacts& facts, int places, Duration share_time) const {
  const auto found = jobs_.find(facts.number);
  if (found == jobs_.end()) return {};  // over since, and forgotten
  const Job& job = found->second;
  const auto queue = queues_.find(queue_of(job));
  if (queue == queues_.end() || job.facts.state != JobState::queued) return {};
  const bool shared = shares_ != nullptr && shares_->divides();
  const ClientShare share = shared ? shares_->share(job.client, share_time) : ClientShare{};
  const std::string client = shared ? fmt::format(" of client '{}'", share.name) : "";
  if (share.quota_free_in > Duration(0)) {
    return fmt::format("waits for the quota{}: {} of {} of device time in {} are used; again in {}",
                       client, to_text(share.quota_used), to_text(share.quota),
                       to_text(share.quota_window), to_text(share.quota_free_in));
  }
  if (job.commands && programs_ > 0) return "waits for the job of programs that runs";
  constexpr int64_t kMostCounted = 1000;
  const std::set<Rank>& mine = job.commands ? queue->second.programs : queue->second.jobs;
  int64_t before = 0;
  for (auto it = mine.begin(); it != mine.end() && *it != rank_of(job); ++it) {
    if (++before == kMostCounted) break;
  }
  const std::string ahead = before == 0 ? fmt::format("the next{}", client)
                                        : fmt::format("{}{} job{}{} before it", before,
                                                      before == kMostCounted ? " or more" : "",
                                                      before == 1 ? "" : "s", client);
  std::string why =
      fmt::format("waits for one of {} place{}, {}", places, places == 1 ? "" : "s", ahead);
  if (shared) {
    why += fmt::format("; the client had {} of the device time of late, and its share is {}",
                       percent(share.share), percent(share.entitled));
  }
  return why;
}

Content Core::content_of(int64_t number) const {
  const auto found = jobs_.find(number);
  return found == jobs_.end() ? nullptr : found->second.content;
}

Record Core::end(int64_t number, const Outcome& outcome, int64_t now_ms) {
  Job& job = at(number);
  TUTTI_CHECK(job.facts.state == JobState::running && !job.ending);
  programs_ -= job.commands ? 1 : 0;
  return end_of(job, outcome, now_ms);
}

Record Core::put_back(int64_t number, int64_t now_ms) {
  Job& job = at(number);
  TUTTI_CHECK(job.facts.state == JobState::running && !job.ending);
  --job.facts.attempts;
  programs_ -= job.commands ? 1 : 0;
  enqueue(job);
  hand_out(job, Waits::nothing);
  return {.kind = Record::Kind::returned, .job = number, .time_ms = now_ms};
}

Record Core::end_of(Job& job, const Outcome& outcome, int64_t now_ms) {
  job.ending = Ending{outcome, now_ms};
  hand_out(job, Waits::end);
  return {
      .kind = Record::Kind::ended, .job = job.facts.number, .time_ms = now_ms, .outcome = outcome};
}

void Core::finish(Job& job, const Ending& ending) {
  close(job);
  job.content = nullptr;
  job.facts.ended_ms = ending.time_ms;
  job.facts.makespan = ending.outcome.makespan;
  job.facts.message = ending.outcome.message;
  become(job, ending.outcome.state);
  job.ending.reset();
  over_.push_back(job.facts.number);
  if (static_cast<int64_t>(over_.size()) <= limits_.kept_jobs) return;
  const auto oldest = jobs_.find(over_.front());
  over_.pop_front();
  by_id_.erase(oldest->second.facts.id);
  forgotten_.push_back(oldest->first);
  jobs_.erase(oldest);
  --figures_.kept;
}

std::vector<OverJob> Core::journalled(int64_t count) {
  std::vector<OverJob> over;
  for (; journalled_ < count; ++journalled_) {
    TUTTI_CHECK(!pending_.empty());
    const Pending next = pending_.front();
    pending_.pop_front();
    if (next.waits == Waits::nothing) continue;
    Job& job = at(next.job);
    ClientFigures& client = client_of(job);
    if (next.waits == Waits::acceptance) {
      ++figures_.accepted_total;
      ++client.accepted_total;
      if (!job.cancel_asked && !job.ending) enqueue(job);  // else its end is journalled next
      continue;
    }
    const Ending ending = *job.ending;
    switch (ending.outcome.state) {
      case JobState::done:
        ++figures_.done_total;
        ++client.done_total;
        break;
      case JobState::failed:
        ++figures_.failed_total;
        ++client.failed_total;
        break;
      default:
        ++figures_.cancelled_total;
        ++client.cancelled_total;
    }
    over.push_back({job.facts, job.content, job.facts.state == JobState::running});
    JobFacts& facts = over.back().job;
    facts.state = ending.outcome.state;
    facts.ended_ms = ending.time_ms;
    facts.makespan = ending.outcome.makespan;
    facts.message = ending.outcome.message;
    finish(job, ending);  // may forget it
  }
  return over;
}

void Core::give_up_records() {
  pending_.clear();
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job& job = it->second;
    if (job.facts.state != JobState::accepting) {
      ++it;
      continue;
    }
    close(job);
    --figures_.accepting;
    by_id_.erase(job.facts.id);
    it = jobs_.erase(it);
  }
}

std::optional<JobFacts> Core::find(std::string_view id) const {
  const auto known = by_id_.find(std::string(id));
  if (known == by_id_.end()) return std::nullopt;
  return jobs_.find(known->second)->second.facts;
}

std::vector<JobFacts> Core::list(const std::set<JobState>& states, int64_t before,
                                 int64_t most) const {
  std::vector<JobFacts> listed;
  auto it = jobs_.lower_bound(before);
  while (it != jobs_.begin() && static_cast<int64_t>(listed.size()) < most) {
    --it;
    if (states.empty() || states.contains(it->second.facts.state)) {
      listed.push_back(it->second.facts);
    }
  }
  return listed;
}

std::vector<JobFacts> Core::queue(int64_t most) const {
  std::vector<JobFacts> listed;
  for (const auto& [name, queue] : queues_) {
    for (const std::set<Rank>* ranks : {&queue.jobs, &queue.programs}) {
      for (auto it = ranks->begin();
           it != ranks->end() && static_cast<int64_t>(listed.size()) < most; ++it) {
        listed.push_back(jobs_.find(std::get<2>(*it))->second.facts);
      }
    }
  }
  return listed;
}

Record Core::accepted_record(const Job& job) const {
  return {.kind = Record::Kind::accepted,
          .job = job.facts.number,
          .time_ms = job.facts.accepted_ms,
          .id = job.facts.id,
          .priority = job.facts.priority,
          .graph = job.facts.graph,
          .ops = job.facts.ops,
          .attempts = job.facts.attempts,
          .started_ms = job.facts.started_ms,
          .digest = job.digest,
          .content = job.content,
          .client = job.facts.client,
          .deadline_ms = job.facts.deadline_ms,
          .work = job.facts.work,
          .commands = job.commands};
}

std::vector<Record> Core::snapshot() const {
  std::vector<Record> records;
  for (const auto& [number, job] : jobs_) {
    records.push_back(accepted_record(job));
    const int64_t started = job.facts.started_ms;
    if (job.facts.state == JobState::running) {
      // The attempt at hand is one of those that the server may die in.
      --records.back().attempts;
      records.push_back({.kind = Record::Kind::started, .job = number, .time_ms = started});
    }
    if (is_over(job.facts.state)) {
      const Outcome outcome{job.facts.state, job.facts.makespan, job.facts.message};
      records.push_back({.kind = Record::Kind::ended,
                         .job = number,
                         .time_ms = job.facts.ended_ms,
                         .outcome = outcome});
    } else if (job.ending) {
      records.push_back({.kind = Record::Kind::ended,
                         .job = number,
                         .time_ms = job.ending->time_ms,
                         .outcome = job.ending->outcome});
    } else if (job.cancel_asked) {
      records.push_back({.kind = Record::Kind::cancel, .job = number});
    }
  }
  records.push_back({.kind = Record::Kind::numbered, .job = next_number_});
  return records;
}

int64_t Core::snapshot_bytes() const {
  return figures_.open_bytes + 2 * kRecordBytes * static_cast<int64_t>(jobs_.size());
}

}  // namespace tutti
