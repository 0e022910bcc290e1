// The Core decides what becomes of jobs: which are accepted, which runs next, which are over. It is
// pure: no threads, no clock, no disk; the same calls in the same order give the same answers.
//
// The caller writes the records that it hands out to the journal, in that order, and reports with
// journalled() how many are on the disk. Until then nothing is acknowledged: a job is accepted when
// its record is on the disk, and over when the record of its end is. So a server that is killed at
// any moment finds every job that it accepted, and runs none again whose end it had reported:
//
//   submit -> accepting -(journalled)-> queued -start-> running -end, journalled-> done
//
// A job that was running when the server was killed goes back to the queue.

#ifndef TUTTI_SERVE_CORE_H_
#define TUTTI_SERVE_CORE_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tutti/plan/world/client_shares.h"
#include "tutti/serve/journal/job.h"
#include "tutti/serve/journal/record.h"

namespace tutti {

struct CoreLimits {
  int64_t open_jobs = 20000;
  int64_t open_bytes = int64_t{1} << 30;  // of their contents
  // Jobs that are over and still remembered. An id that is forgotten can be used again.
  int64_t kept_jobs = 100000;
  // A job that was running so often when the server died is given up: it may be what killed it.
  int32_t attempts = 5;
};

// How many open jobs each client may have.
struct ClientLimits {
  int64_t usual = std::numeric_limits<int64_t>::max();
  std::map<std::string, int64_t> named{};
};

struct Submitted {
  enum class Verdict : uint8_t {
    accepted,  // as soon as `record` is on the disk
    known,     // the same was submitted before, under the same id
    conflict,  // other content, or another client's job, has that id
    full,      // too many open jobs, or too many bytes of them
    quota,     // the client has as many open jobs as it may
    draining,
  };
  Verdict verdict = Verdict::accepted;
  JobFacts job{};                  // of accepted and known; of conflict the other one
  std::optional<Record> record{};  // of accepted
};

struct Cancelled {
  enum class Verdict : uint8_t {
    queued,   // it will not be started; cancelled as soon as `record` is on the disk
    running,  // its run has to be stopped
    asked,    // it was asked for before, or the job has ended and that is not yet on the disk
    over,
    unknown,
  };
  Verdict verdict = Verdict::unknown;
  JobFacts job{};
  std::optional<Record> record{};
};

struct Started {
  JobFacts job;
  Content content;
  Record record;
  std::string reason;                     // why this one
  std::shared_ptr<JobAccount> account{};  // null: device time is not counted
};

// A job that is over since its end is on the disk.
struct OverJob {
  JobFacts job;
  Content content;
  bool was_running = false;  // else it was queued when it ended
};

// Open jobs whose deadline has passed.
struct Expired {
  std::vector<Record> records{};   // of those that were queued: they have failed
  std::vector<int64_t> running{};  // their runs have to be stopped
};

// Of one client.
struct ClientFigures {
  int64_t open = 0;
  int64_t accepted_total = 0;
  int64_t done_total = 0;
  int64_t failed_total = 0;
  int64_t cancelled_total = 0;
};

// Jobs by state, and what has been since the start of the process.
struct CoreFigures {
  int64_t accepting = 0;
  int64_t queued = 0;
  int64_t running = 0;
  int64_t kept = 0;
  int64_t open_bytes = 0;
  int64_t accepted_total = 0;
  int64_t done_total = 0;
  int64_t failed_total = 0;
  int64_t cancelled_total = 0;
  int64_t missed_total = 0;  // deadlines; the jobs are among those that failed
  std::map<std::string, ClientFigures> clients{};  // by name; "": of jobs without one
  int64_t open() const { return accepting + queued + running; }
};

class Core {
 public:
  static constexpr int64_t kManyPlaces = int64_t{1} << 32;

  // Keeps a reference to the shares, which say whose jobs go first; null: there is one queue.
  explicit Core(const CoreLimits& limits, ClientShares* shares = nullptr)
      : limits_(limits), shares_(shares) {}

  // At any time; also after the rules of the shares have changed.
  void set_client_limits(ClientLimits limits);

  // Records of an earlier life, in their order, before all else. Fails (invalid_input) if one
  // contradicts those before it.
  Result<void> replay(Record record);
  // Before recovered(): numbers below this have been given, as the folders of runs show.
  // True if the journal knew of fewer.
  bool skip_numbers(int64_t below);
  // After the last of them. Hands out records for what is settled now: jobs whose cancelling was
  // asked for, and those given up; and always one, so that the journal knows that all before it was
  // there.
  std::vector<Record> recovered(int64_t now_ms);

  // None if there is no job of that id. Looks at id, priority, content and client alone.
  std::optional<Submitted> known(const Submission& submission) const;
  Submitted submit(const Submission& submission, int64_t now_ms);
  Cancelled cancel(std::string_view id, int64_t now_ms);

  // The job that goes next. Of a client: the one of greatest priority, of those the one with the
  // earliest deadline, then the one that came first. If clients share the machine: of the client
  // that goes first, by a time of the shares. At most one job runs programs. None: nothing to do
  // now. `even_held`: rather one of a client that is held by its quota than none. Of several places
  // clients with a quota leave one free: a job that is held by it keeps its place.
  std::optional<Started> start(int64_t now_ms, Duration share_time = Duration(0),
                               bool even_held = false, int64_t places = kManyPlaces);
  // Requires a running job.
  Record end(int64_t number, const Outcome& outcome, int64_t now_ms);
  // Back to the queue, as if it had not been started. Requires a running job.
  Record put_back(int64_t number, int64_t now_ms);

  // Jobs whose deadline is not after that time, each once.
  Expired expire(int64_t now_ms);
  // The first deadline of those that expire() has not handed out; 0: there is none.
  int64_t next_deadline() const { return deadlines_.empty() ? 0 : deadlines_.begin()->first; }

  // The first `count` of all records handed out, replayed ones left out, are on the disk. Gives the
  // jobs that are over since.
  std::vector<OverJob> journalled(int64_t count);
  // Numbers of jobs that were over and are no longer remembered, each once.
  std::vector<int64_t> take_forgotten() { return std::exchange(forgotten_, {}); }
  // No further record will ever be on the disk: forgets the jobs that were being accepted.
  void give_up_records();

  void drain() { draining_ = true; }
  bool draining() const { return draining_; }

  // None if no job has that id.
  std::optional<JobFacts> find(std::string_view id) const;
  // At most `most` jobs, the latest first, of those before number `before` that are in one of
  // `states` (all if empty).
  std::vector<JobFacts> list(const std::set<JobState>& states, int64_t before, int64_t most) const;
  // Why a queued job has not been started, in a sentence, with so many places.
  std::string why_queued(const JobFacts& job, int places, Duration share_time) const;
  // What was submitted as that job; null if it is over.
  Content content_of(int64_t number) const;
  // At most `most` queued jobs, in the order in which those of each client will be started.
  std::vector<JobFacts> queue(int64_t most) const;
  const CoreFigures& figures() const { return figures_; }

  // Records that say all there is to know, to rewrite the journal with.
  std::vector<Record> snapshot() const;
  // About how many bytes of records a snapshot has.
  int64_t snapshot_bytes() const;

 private:
  struct Ending {
    Outcome outcome;
    int64_t time_ms = 0;
  };
  struct Job {
    JobFacts facts;
    uint64_t digest = 0;
    Content content{};
    bool commands = false;
    int32_t client = -1;  // in the shares
    bool cancel_asked = false;
    std::optional<Ending> ending{};  // has been handed out
  };
  // What comes true once a record is on the disk.
  enum class Waits : uint8_t { acceptance, end, nothing };
  struct Pending {
    int64_t job;
    Waits waits;
  };

  // Those that go first come first: the opposite of the priority, the deadline, the number.
  using Rank = std::tuple<int32_t, int64_t, int64_t>;
  struct Queue {
    std::set<Rank> jobs;
    std::set<Rank> programs;  // jobs that start some
    bool empty() const { return jobs.empty() && programs.empty(); }
    size_t size() const { return jobs.size() + programs.size(); }
  };
  static Rank rank_of(const Job& job);
  // The name of its queue.
  std::string queue_of(const Job& job) const;
  void dequeue(const Job& job);
  // None if all its jobs have to wait.
  std::optional<Rank> first_of(const Queue& queue) const;
  // The job is one of the open ones.
  void open(Job& job);
  void close(Job& job);
  std::string reason_for(const Job& job, const Queue& queue, Duration share_time) const;

  Job& at(int64_t number);
  void hand_out(const Job& job, Waits waits) { pending_.push_back({job.facts.number, waits}); }
  int64_t& count_of(JobState state);
  void become(Job& job, JobState state);
  ClientFigures& client_of(const Job& job) { return figures_.clients[job.facts.client]; }
  void enqueue(Job& job);
  // Hands out its end; it is over once that is on the disk.
  Record end_of(Job& job, const Outcome& outcome, int64_t now_ms);
  // It is over. Forgets the oldest that is, if there are too many.
  void finish(Job& job, const Ending& ending);
  Result<void> replay_accepted(Record record);
  Record accepted_record(const Job& job) const;

  CoreLimits limits_;
  ClientShares* shares_;
  ClientLimits client_limits_;
  bool draining_ = false;
  int64_t next_number_ = 1;
  std::map<int64_t, Job> jobs_;
  std::unordered_map<std::string, int64_t> by_id_;
  std::map<std::string, Queue> queues_;              // by client if they share, else one
  int64_t programs_ = 0;                             // running jobs that start programs
  std::set<std::pair<int64_t, int64_t>> deadlines_;  // (time, number) of open jobs
  std::vector<int32_t> order_;
  std::deque<int64_t> over_;  // in the order in which they ended
  std::vector<int64_t> forgotten_;
  std::deque<Pending> pending_;  // records handed out and not yet journalled
  int64_t journalled_ = 0;
  CoreFigures figures_;
};

// What makes two submissions under one id the same.
uint64_t digest_of(int32_t priority, std::string_view content);

}  // namespace tutti

#endif  // TUTTI_SERVE_CORE_H_
