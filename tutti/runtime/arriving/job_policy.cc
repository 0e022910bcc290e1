#include "tutti/runtime/arriving/job_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

std::vector<int> places_in_feed(const std::vector<Counter>& counters, const CounterFeed* feed) {
  std::vector<int> places;
  for (const Counter& counter : counters) {
    int place = -1;
    for (size_t i = 0; feed != nullptr && i < feed->counters().size() && place < 0; ++i) {
      if (counts_the_same(feed->counters()[i], counter)) place = static_cast<int>(i);
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace

class JobPolicy::SelectJobOp final : public Select {
 public:
  explicit SelectJobOp(JobPolicy& jobs) : jobs_(jobs) {}
  std::optional<OpId> select(const State& /*state*/) override { return jobs_.select(); }

 private:
  JobPolicy& jobs_;
};

class JobPolicy::PlaceJobOp final : public Place {
 public:
  explicit PlaceJobOp(const JobPolicy& jobs) : jobs_(jobs) {}
  DeviceId place(const State& /*state*/, OpId /*op*/) override { return jobs_.chosen_; }

 private:
  const JobPolicy& jobs_;
};

JobPolicy::JobPolicy(const Cluster& cluster, const Joined& joined,
                     const std::vector<Arrival>& arrivals, Decider& decider,
                     std::vector<Counter> counters, const CounterFeed* feed,
                     std::function<void(const JobRecord& job)> ended)
    : cluster_(cluster),
      joined_(joined),
      arrivals_(arrivals),
      decider_(decider),
      feed_(feed),
      ended_(std::move(ended)),
      fed_by_(places_in_feed(counters, feed)),
      own_(cluster, counters),
      ledger_(cluster, std::move(counters)),
      slot_of_(joined.op_places.size(), -1) {
  for (size_t i = 0; i < arrivals.size(); ++i) {
    run_.jobs.push_back({.id = JobId{static_cast<int32_t>(i)},
                         .job = arrivals[i].job,
                         .arrival = arrivals[i].time,
                         .start = kNever});
  }
}

Policy JobPolicy::policy() {
  return {.select = std::make_unique<SelectJobOp>(*this),
          .place = std::make_unique<PlaceJobOp>(*this)};
}

void JobPolicy::pass_until(Duration now) {
  const Duration passed = now - ledger_.state().now;
  if (passed <= Duration(0)) return;
  run_.reward -= ledger_.unsettled() * static_cast<double>(passed.count());
  ledger_.set_time(now);
}

void JobPolicy::close_epoch() {
  if (!decided_) return;
  ledger_.begin_epoch();
  decided_ = false;
}

void JobPolicy::started(OpId op, Duration now) {
  close_epoch();
  pass_until(now);
  const int32_t slot = slot_of_[static_cast<size_t>(op.index)];
  const Joined::Place& place = place_of(op);
  const JobStatus& job = ledger_.state().job(JobId{place.part});
  own_.started(slot, job.ops[static_cast<size_t>(place.index)].launched, now);
  ledger_.start(ledger_.job(JobId{place.part}), OpId{place.index});
}

void JobPolicy::finished(OpId op, Duration now) {
  close_epoch();
  pass_until(now);
  const int32_t slot = slot_of_[static_cast<size_t>(op.index)];
  const Joined::Place& place = place_of(op);
  const FinishedOp done = ledger_.finish(ledger_.job(JobId{place.part}), OpId{place.index});
  own_.finished(slot, done);
  if (ledger_.job(done.job).left > 0) return;
  JobRecord& record = run_.jobs[static_cast<size_t>(done.job.index)];
  record.finish = now;
  run_.makespan = std::max(run_.makespan, now);
  ledger_.remove(done.job);
  if (ended_) ended_(record);
}

void JobPolicy::arrived(ValueId value, MemoryId memory, Duration now) {
  close_epoch();
  pass_until(now);
  const Joined::Place& place = joined_.value_places[static_cast<size_t>(value.index)];
  const auto part = static_cast<size_t>(place.part);
  if (part >= ledger_.state().jobs.size() || ledger_.state().jobs[part] == nullptr) return;
  ledger_.arrive(ledger_.job(JobId{place.part}), ValueId{place.index}, memory);
}

void JobPolicy::asked(Duration now) {
  close_epoch();
  pass_until(now);
  admit_all();
  read_counters();
}

void JobPolicy::admit_all() {
  for (; next_arrival_ < arrivals_.size(); ++next_arrival_) {
    const Arrival& next = arrivals_[next_arrival_];
    if (next.time > ledger_.state().now) return;
    ledger_.admit(next.job).arrival = next.time;
  }
}

void JobPolicy::read_counters() {
  std::vector<CounterReading>& readings = ledger_.readings();
  readings.assign(fed_by_.size(), {});
  own_.read(ledger_.state().now, readings);
  if (feed_ == nullptr) return;
  feed_->last(fed_);
  for (size_t i = 0; i < fed_by_.size(); ++i) {
    if (fed_by_[i] >= 0) readings[i] = fed_[static_cast<size_t>(fed_by_[i])];
  }
}

Duration JobPolicy::next_time() const {
  return next_arrival_ < arrivals_.size() ? arrivals_[next_arrival_].time : kNever;
}

std::optional<OpId> JobPolicy::select() {
  if (error_ || !can_act(ledger_.state())) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  const Action action = decider_.decide(ledger_.state());
  decision_times_.push_back(std::chrono::steady_clock::now() - begin);
  ++run_.decisions;
  decided_ = true;
  const Result<void> allowed = check_action(ledger_.state(), action);
  if (!allowed) error_ = allowed.error();
  if (!allowed || action.kind == Action::Kind::no_op) return std::nullopt;
  TUTTI_CHECK(action.kind == Action::Kind::execute);  // there are no contexts
  launch(action);
  return joined_.op(action.job.index, action.op);
}

void JobPolicy::launch(const Action& action) {
  const WorldState& state = ledger_.state();
  const int free = state.free_slot(action.device, state.job(action.job).job->kind(action.op));
  own_.launched(state, action, cluster_.first_slot(action.device) + free);
  slot_of_[static_cast<size_t>(joined_.op(action.job.index, action.op).index)] =
      cluster_.first_slot(action.device) + free;
  ledger_.execute(action);
  JobRecord& record = run_.jobs[static_cast<size_t>(action.job.index)];
  record.start = std::min(record.start, state.now);
  chosen_ = action.device;
}

}  // namespace tutti
