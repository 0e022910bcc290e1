// The Daemon is a core, its journal and runner at work: what `tutti serve` does, without HTTP
// (api.h). Any thread may call.

#ifndef TUTTI_SERVE_DAEMON_H_
#define TUTTI_SERVE_DAEMON_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/serve/clients.h"
#include "tutti/serve/core.h"
#include "tutti/serve/history/history.h"
#include "tutti/serve/journal/journal.h"
#include "tutti/serve/metrics.h"
#include "tutti/serve/run/decisions.h"
#include "tutti/serve/run/meter.h"
#include "tutti/serve/run/runner.h"
#include "tutti/serve/submission.h"

namespace tutti {

struct DaemonOptions {
  std::string folder{};  // of the journal
  HistoryLimits history{};
  CoreLimits limits{};
  ClientRules clients{};
  int64_t most_ops = 100000;  // of one job
  bool allow_commands = false;
  // Folders in runs/ of open jobs that tutti 0.1 made, which do not say whose they are, are those
  // jobs'. Without it they are refused.
  bool adopt_runs = false;
  MakeGraph make_graph{};
  // A file that gets a line whenever a run starts or ends, before the journal knows of it; empty:
  // none.
  std::string run_log{};
  // Sees each graph that can be run when it is submitted, by several threads. Warnings about it are
  // the operator's.
  std::function<void(const Graph& graph)> on_graph{};
  // A journal is rewritten when it is longer than this and than twice what has to be kept.
  int64_t longest_journal = int64_t{64} << 20;
  // Called once, with a sentence, when the journal cannot be written any more.
  std::function<void(const std::string& sentence)> on_broken{};
  // Called by the journal's thread as soon as records are on the disk, for measurements.
  std::function<void(const JournalFigures& figures)> on_synced{};
  // Called with a sentence that the operator should read.
  std::function<void(const std::string& sentence)> on_note{};
};

struct SubmitAnswer {
  enum class What : uint8_t {
    accepted,
    known,       // the same was submitted before
    conflict,    // something else has that id
    invalid,     // no graph, no id
    too_large,   // too many ops
    unrunnable,  // not on this machine
    commands,    // it would start programs, and that is not allowed
    full,
    quota,     // the client has as many open jobs as it may
    too_late,  // it cannot meet its deadline
    draining,
    unavailable,  // the server stops, or its disk has failed
  };
  What what = What::accepted;
  JobFacts job{};          // of accepted, known and conflict
  std::string sentence{};  // of the others and of conflict
};

// How a job is to be run.
struct SubmitTerms {
  std::string id{};  // empty: the server gives one
  int32_t priority = 0;
  std::string client{};        // the submitter's name, if known
  int64_t deadline_in_ms = 0;  // from now; 0: there is none
};

// What a server runs jobs with. Changes when it is reloaded.
struct ServedBy {
  std::string runtime;
  std::string policy;
  std::string machine;
  std::vector<std::string> devices;
  int places = 0;
  Runner::Deciding deciding{};
  bool reloading = false;  // running jobs end first
};

struct CancelAnswer {
  enum class What : uint8_t { cancelled, asked, over, unknown, unavailable };
  What what = What::unknown;
  JobFacts job{};
  std::string sentence{};
};

struct DaemonFigures {
  CoreFigures jobs;
  JournalFigures journal;
  Histogram wait_seconds;  // from acceptance to the last start
  Histogram run_seconds;
  int64_t refused_total = 0;  // for want of room
  int64_t reloads_total = 0;
  bool draining = false;
  bool stopping = false;
  std::string broken;  // why the journal cannot be written; empty: it can
  HistoryFigures history{};
};

class Daemon {
 public:
  // Reads the journal and goes on where it ends. Fails as Journal::open does, or (invalid_input) if
  // there are folders to adopt. The runner counts by those shares, which outlive the daemon; there
  // may be no meter.
  static Result<std::unique_ptr<Daemon>> open(DaemonOptions options, ClientShares& shares,
                                              std::unique_ptr<Runner> runner,
                                              std::unique_ptr<Meter> meter);
  // As stop() without grace.
  ~Daemon();

  // Returns once the job is on the disk, or refused.
  SubmitAnswer submit(const SubmitTerms& terms, Content content);
  // A job that runs is asked to stop; one that waits is cancelled when this returns.
  CancelAnswer cancel(const std::string& id);
  void drain();
  // Queued jobs will be run by that runner, as soon as those that run have ended. Fails with a
  // sentence, and changes nothing, if an open job could not be run there, or if a reload is under
  // way.
  Result<void> reload(std::unique_ptr<Runner> runner);
  // New rules hold at once. Open jobs that are too many by them stay.
  void set_clients(ClientRules rules);

  std::optional<JobFacts> find(const std::string& id) const;
  // When it is over, the time has passed, the daemon stops or its journal has failed.
  std::optional<JobFacts> wait(const std::string& id, std::chrono::milliseconds time) const;
  std::vector<JobFacts> list(const std::set<JobState>& states, int64_t before, int64_t most) const;
  std::vector<JobFacts> queue(int64_t most) const;
  DaemonFigures figures() const;
  const History& history() const { return *history_; }
  // What was submitted of a job that is over, as the runner would run it now. Fails with a sentence
  // if it cannot, or if its ops are programs.
  Result<std::shared_ptr<const Problem>> problem_of(const KeptJob& kept) const;
  // Why an open job does not run, or does not go on, in a sentence; empty: that is not known.
  std::string why_waiting(const JobFacts& job) const;
  std::vector<ClientShare> shares() const;
  // The devices that device time of those is of: of this machine, and of those before a reload.
  std::vector<std::string> share_devices() const { return shares_.devices(); }
  ServedBy served_by() const;
  const DecisionLog& decisions() const { return decisions_; }
  std::vector<Utilisation> utilisation() const;
  // Why a job would not be accepted now, whatever it is; empty: nothing speaks against it.
  std::string unready() const;
  // What its operator should know of how the journal was found, a sentence each.
  const std::vector<std::string>& notices() const { return notices_; }

  // Starts no more jobs; those that run may go on for `grace`, then they are stopped and put back
  // into the queue. Submissions are refused from now on.
  void stop(std::chrono::milliseconds grace);

 private:
  // A reload that may still be refused looks at the jobs that wait; while it settles, no submission
  // is taken in. Jobs start meanwhile.
  enum class Reload : uint8_t { none, checks, settles };
  struct Run {
    std::atomic<bool> stop{false};
    bool cancelled = false;
    bool missed = false;  // its deadline
  };

  Daemon(DaemonOptions options, ClientShares& shares, std::unique_ptr<Runner> runner,
         std::unique_ptr<Meter> meter);
  // Reads and prepares a submission for that runner; a refusal with its reason otherwise.
  std::optional<SubmitAnswer> prepare(const Runner& runner, const std::string& content,
                                      PreparedJob& prepared);
  // The runner that a job which is submitted now will be run by.
  const std::shared_ptr<Runner>& runner_of_new_jobs() const
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  // The answer to a submission of an id that there is; none if there is none.
  std::optional<SubmitAnswer> find_known(const SubmitTerms& terms, const Content& content);
  // As prepare(), of a new job that also has to meet its deadline.
  std::optional<SubmitAnswer> prepare_new(const Runner& runner, const SubmitTerms& terms,
                                          const std::string& content, PreparedJob& prepared);
  // None if that is no longer the runner of new jobs.
  std::optional<SubmitAnswer> take_in(const SubmitTerms& terms, const Content& content,
                                      const std::shared_ptr<Runner>& runner, PreparedJob prepared);
  // Once that record is on the disk.
  SubmitAnswer acknowledged(SubmitAnswer::What what, const JobFacts& job, int64_t record)
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  // Fails with a sentence if a job that waits, of a greater number than `checked`, could not be run
  // there. `checked` becomes the greatest number of those looked at.
  Result<void> check_queued(const Runner& runner, int64_t& checked);
  // If a reload waits and nothing runs: the old runner, which the caller destroys without the lock.
  std::shared_ptr<Runner> take_over() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  // The shares count by the devices of the runner.
  void name_devices() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void start_threads() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void drop_prepared(int64_t job) TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void wake_workers() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void watch_deadlines();
  SubmitAnswer refused_by(Submitted::Verdict verdict, const JobFacts& other) const
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  // Appends a record and gives its place among all.
  int64_t append(Record record) TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  // True once it is on the disk, false if it never will be.
  bool wait_for_disk(int64_t record) TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void on_disk(int64_t count, const Result<void>& good);
  std::string run_folder(int64_t job) const;
  // Unless a job of that number is open: where a journal was moved away, a history may be of
  // another one.
  void remove_run_folder(int64_t job);
  // Fails (invalid_input) if open jobs have folders of tutti 0.1 and those are not to be adopted.
  Result<void> check_run_folders() const TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void work(int place);
  // `record` gets what the runtime recorded.
  Outcome run(const Started& started, Runner& runner, PreparedJob prepared, const Run& run,
              std::shared_ptr<const RunRecord>& record);
  // Of a job that is over. `record` is null if it did not run to its end.
  void keep(const JobFacts& job, Content content, const Runner& runner,
            std::shared_ptr<const RunRecord> record);
  void log_run(const JobFacts& job, const char* event, const Outcome* outcome);

  DaemonOptions options_;
  ClientShares& shares_;
  std::unique_ptr<Meter> meter_;
  DecisionLog decisions_;
  int run_log_ = -1;
  int64_t last_known_ = 0;  // number of the last job that an earlier server had taken in
  std::vector<std::string> notices_;

  Mutex large_;  // held while a large submission is read
  mutable Mutex mutex_;
  mutable std::condition_variable_any changed_;  // something is on the disk, or all ends
  std::condition_variable_any work_;             // there may be something to run
  std::condition_variable_any deadline_;         // there is a deadline, or all ends
  Core core_ GUARDED_BY(mutex_);
  int64_t appended_ GUARDED_BY(mutex_) = 0;
  int64_t on_disk_ GUARDED_BY(mutex_) = 0;
  int64_t rewrites_asked_ GUARDED_BY(mutex_) = 0;
  std::map<int64_t, Run*> runs_ GUARDED_BY(mutex_);
  std::shared_ptr<Runner> runner_ GUARDED_BY(mutex_);
  std::shared_ptr<Runner> next_runner_ GUARDED_BY(mutex_);  // of a reload; null: there is none
  Reload reload_ GUARDED_BY(mutex_) = Reload::none;
  // Queued jobs that need not be read again when they start, up to a number of ops; all of them
  // prepared by runner_of_new_jobs().
  std::map<int64_t, PreparedJob> prepared_ GUARDED_BY(mutex_);
  int64_t prepared_ops_ GUARDED_BY(mutex_) = 0;
  int64_t reloads_total_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::string broken_ GUARDED_BY(mutex_);
  Histogram wait_seconds_ GUARDED_BY(mutex_);
  Histogram run_seconds_ GUARDED_BY(mutex_);
  int64_t refused_total_ GUARDED_BY(mutex_) = 0;
  std::unique_ptr<History> history_;
  std::vector<std::thread> threads_;  // one for each place there ever was
  std::thread deadlines_;
  std::unique_ptr<Journal> journal_;  // its thread calls on_disk
};

}  // namespace tutti

#endif  // TUTTI_SERVE_DAEMON_H_
