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

std::string reason_for(const std::set<std::pair<int32_t, int64_t>>& queue) {
  const auto first = queue.begin();
  const auto next = std::next(first);
  if (next == queue.end()) return "the only job queued";
  if (next->first != first->first) {
    return fmt::format("its priority {} is the greatest of {} queued jobs", -first->first,
                       queue.size());
  }
  return fmt::format("it came first of those with priority {}; {} jobs were queued", -first->first,
                     queue.size());
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

ClientFigures* Core::client_of(const Job& job) {
  return job.facts.client.empty() ? nullptr : &figures_.clients[job.facts.client];
}

void Core::enqueue(Job& job) {
  become(job, JobState::queued);
  queue_.emplace(-job.facts.priority, job.facts.number);
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
               .client = std::move(record.client)};
  job.digest = record.digest;
  job.content = std::move(record.content);
  figures_.open_bytes += static_cast<int64_t>(job.content->size());
  ++figures_.accepting;
  if (ClientFigures* const client = client_of(job)) ++client->open;
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
  queue_.erase({-job.facts.priority, job.facts.number});
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
      queue_.erase({-job.facts.priority, number});
      records.push_back(end_of(job, {.state = JobState::cancelled}, now_ms));
    } else if (was_running && job.facts.attempts >= limits_.attempts) {
      queue_.erase({-job.facts.priority, number});
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

Submitted Core::submit(const Submission& submission, int64_t now_ms) {
  const uint64_t digest = digest_of(submission.priority, *submission.content);
  if (!submission.id.empty()) {
    const auto known = by_id_.find(submission.id);
    if (known != by_id_.end()) {
      const Job& job = at(known->second);
      // Jobs of tutti 0.1, and of servers without tokens, have no client.
      const bool foreign = !job.facts.client.empty() && !submission.client.empty() &&
                           job.facts.client != submission.client;
      const bool same = job.digest == digest && !foreign;
      return {same ? Submitted::Verdict::known : Submitted::Verdict::conflict, job.facts};
    }
  }
  if (draining_) return {Submitted::Verdict::draining};
  const auto bytes = static_cast<int64_t>(submission.content->size());
  if (figures_.open() >= limits_.open_jobs || figures_.open_bytes + bytes > limits_.open_bytes) {
    return {Submitted::Verdict::full};
  }
  const int64_t number = next_number_++;
  Job job;
  job.facts = {.number = number,
               .id = submission.id.empty() ? fmt::format("job-{}", number) : submission.id,
               .priority = submission.priority,
               .graph = submission.graph,
               .ops = submission.ops,
               .accepted_ms = now_ms,
               .client = submission.client};
  job.digest = digest;
  job.content = submission.content;
  figures_.open_bytes += bytes;
  ++figures_.accepting;
  if (ClientFigures* const client = client_of(job)) ++client->open;
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
  queue_.erase({-job.facts.priority, job.facts.number});
  job.ending = Ending{{.state = JobState::cancelled}, now_ms};
  hand_out(job, Waits::end);
  return {Cancelled::Verdict::queued, job.facts, std::move(record)};
}

std::optional<Started> Core::start(int64_t now_ms) {
  if (queue_.empty()) return std::nullopt;
  std::string reason = reason_for(queue_);
  Job& job = at(queue_.begin()->second);
  queue_.erase(queue_.begin());
  become(job, JobState::running);
  ++job.facts.attempts;
  job.facts.started_ms = now_ms;
  hand_out(job, Waits::nothing);
  return Started{job.facts,
                 job.content,
                 {.kind = Record::Kind::started, .job = job.facts.number, .time_ms = now_ms},
                 std::move(reason)};
}

Record Core::end(int64_t number, const Outcome& outcome, int64_t now_ms) {
  Job& job = at(number);
  TUTTI_CHECK(job.facts.state == JobState::running && !job.ending);
  return end_of(job, outcome, now_ms);
}

Record Core::put_back(int64_t number, int64_t now_ms) {
  Job& job = at(number);
  TUTTI_CHECK(job.facts.state == JobState::running && !job.ending);
  --job.facts.attempts;
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
  figures_.open_bytes -= static_cast<int64_t>(job.content->size());
  if (ClientFigures* const client = client_of(job)) --client->open;
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
  jobs_.erase(oldest);
  --figures_.kept;
}

std::vector<JobFacts> Core::journalled(int64_t count) {
  std::vector<JobFacts> over;
  for (; journalled_ < count; ++journalled_) {
    TUTTI_CHECK(!pending_.empty());
    const Pending next = pending_.front();
    pending_.pop_front();
    if (next.waits == Waits::nothing) continue;
    Job& job = at(next.job);
    ClientFigures* const client = client_of(job);
    if (next.waits == Waits::acceptance) {
      ++figures_.accepted_total;
      if (client != nullptr) ++client->accepted_total;
      if (!job.cancel_asked) enqueue(job);  // else its end is journalled next
      continue;
    }
    const Ending ending = *job.ending;
    switch (ending.outcome.state) {
      case JobState::done:
        ++figures_.done_total;
        if (client != nullptr) ++client->done_total;
        break;
      case JobState::failed:
        ++figures_.failed_total;
        if (client != nullptr) ++client->failed_total;
        break;
      default:
        ++figures_.cancelled_total;
        if (client != nullptr) ++client->cancelled_total;
    }
    over.push_back(job.facts);
    over.back().state = ending.outcome.state;
    over.back().ended_ms = ending.time_ms;
    finish(job, ending);  // may forget it
  }
  return over;
}

void Core::give_up_records() {
  pending_.clear();
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    const Job& job = it->second;
    if (job.facts.state != JobState::accepting) {
      ++it;
      continue;
    }
    figures_.open_bytes -= static_cast<int64_t>(job.content->size());
    --figures_.accepting;
    if (ClientFigures* const client = client_of(job)) --client->open;
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
  for (auto it = queue_.begin(); it != queue_.end() && most > 0; ++it, --most) {
    listed.push_back(jobs_.find(it->second)->second.facts);
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
          .client = job.facts.client};
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
