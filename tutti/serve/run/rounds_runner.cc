#include "tutti/serve/run/rounds_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "tutti/base/mutex.h"
#include "tutti/runtime/arriving/real_cluster.h"

namespace tutti {
namespace {

// How often a job that waits looks whether it was cancelled.
constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

// A job that waits for a round or is in one.
struct RoundJob {
  std::string name;
  Graph graph;
  std::shared_ptr<const Job> job{};  // known to the thread of the rounds alone
  // Guarded by the mutex of the rounds. Owned by the thread that submitted the job, and gone with
  // it.
  DecisionLog* log = nullptr;  // null: the submitter no longer waits
  std::optional<Result<RunReport>> outcome{};

  bool wanted() const { return log != nullptr && !outcome; }
};
using RoundJobs = std::vector<std::shared_ptr<RoundJob>>;

class Rounds : public Runner {
 public:
  Rounds(Cluster cluster, RunnerOptions options, RoundsOptions rounds)
      : cluster_(std::move(cluster)),
        options_(std::move(options)),
        rounds_(std::move(rounds)),
        last_(static_cast<size_t>(rounds_.places)) {}
  ~Rounds() override {
    {
      MutexLock lock(mutex_);
      ends_ = true;
      stop_.store(true);
      came_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  // Once, before anything else.
  Result<void> open(const MakeDecider& make) {
    Result<std::unique_ptr<Decider>> made = make(cluster_, rounds_.counters);
    if (!made) return made.error();
    decider_ = std::make_unique<Noting>(*this, std::move(*made));
    RealClusterOptions real{.counters = rounds_.counters,
                            .feed = rounds_.feed.get(),
                            .input_seed = options_.seed,
                            .keep_inputs = false,
                            .stop = Stop(&stop_)};
    real.ended = [this](const JobRecord& record) { end_one(record); };
    auto opened = RealCluster::open(cluster_, rounds_.ops, std::move(real));
    if (!opened) return opened.error();
    real_ = std::move(*opened);
    thread_ = std::thread([this] { work(); });
    return {};
  }

  const char* name() const override { return "local"; }
  std::string policy() const override { return options_.policy; }
  int places() const override { return rounds_.places; }

  Result<void> check(const Graph& graph) const override {
    if (graph.command_count() > 0) {
      return invalid_input(
          "the graph starts programs, which deciders do not decide about; a server whose "
          "--policy decides about one job at a time, such as critical_path, runs them");
    }
    if (graph.size() > rounds_.most_ops) {
      return invalid_input(fmt::format(
          "the graph has {} ops, and jobs that share devices may have {}; a server whose --policy "
          "decides about one job at a time, such as critical_path, runs it",
          graph.size(), rounds_.most_ops));
    }
    if (const Result<void> good = check_code(graph, cluster_.machine(), rounds_.ops); !good) {
      return good;
    }
    const Result<Problem> problem =
        Problem::make(Shared<Graph>::borrowed(graph), cluster_.shared_machine(), cluster_.costs());
    if (!problem) return problem.error();
    return check_arriving(*problem);
  }

  Result<RunReport> run(const Graph& graph, const RunContext& context, DecisionLog& log) override {
    // A journal may have it from a server that ran others.
    if (const Result<void> good = check(graph); !good) return good.error();
    const auto member =
        std::make_shared<RoundJob>(RoundJob{.name = context.job, .graph = graph, .log = &log});
    MutexLock lock(mutex_);
    waiting_.push_back(member);
    came_.notify_all();
    while (!member->outcome && !context.stop.now()) changed_.wait_for(mutex_, kBetweenLooks);
    member->log = nullptr;
    if (member->outcome) return *member->outcome;
    std::erase(waiting_, member);
    stop_if_nobody_waits();
    return failed("cancelled");
  }

 private:
  // Logs the decisions of jobs whose submitters wait.
  class Noting final : public Decider {
   public:
    Noting(Rounds& rounds, std::unique_ptr<Decider> inner)
        : rounds_(rounds), inner_(std::move(inner)) {}
    void begin(const Cluster& cluster, uint64_t seed) override { inner_->begin(cluster, seed); }
    Action decide(const WorldState& state) override {
      const Action action = inner_->decide(state);
      if (action.kind == Action::Kind::execute) rounds_.note(state, action);
      return action;
    }

   private:
    Rounds& rounds_;
    std::unique_ptr<Decider> inner_;
  };

  void work() {
    for (RoundJobs members = next_round(); !members.empty(); members = next_round()) {
      std::erase_if(members, [this](const auto& member) { return !make_job(*member); });
      const Result<void> ran = run_together(members);
      if (ran) continue;
      if (members.size() == 1) {
        end(*members[0], ran.error());
        continue;
      }
      // One of the jobs is at fault, or they do not fit into memory together.
      for (const auto& member : members) {
        if (!is_wanted(*member)) continue;
        const Result<void> alone = run_together({member});
        if (!alone) end(*member, alone.error());
      }
    }
  }

  // Waits for it; none if all ends.
  RoundJobs next_round() {
    MutexLock lock(mutex_);
    // Jobs of the last round that have just ended will soon be followed by others, in addition to
    // those that wait already: one of high priority must not miss the round by a moment.
    const size_t expected = std::min(last_ + waiting_.size(), static_cast<size_t>(rounds_.places));
    while (true) {
      while (!ends_ && waiting_.empty()) came_.wait(mutex_);
      const auto deadline = std::chrono::steady_clock::now() + rounds_.gather;
      while (!ends_ && waiting_.size() < expected &&
             came_.wait_until(mutex_, deadline) != std::cv_status::timeout) {
      }
      if (ends_) return {};
      if (waiting_.empty()) continue;  // cancelled
      last_ = std::min(waiting_.size(), static_cast<size_t>(rounds_.places));
      const auto end = waiting_.begin() + static_cast<int64_t>(last_);
      RoundJobs members(waiting_.begin(), end);
      waiting_.erase(waiting_.begin(), end);
      return members;
    }
  }

  // Between rounds, when no thread reads the cluster. False: the job has ended (with an error).
  bool make_job(RoundJob& member) {
    Result<std::shared_ptr<const Job>> job = failed("memory ran out");
    try {
      job = cluster_.add_job(std::move(member.graph));
    } catch (const std::exception& error) {
      job = failed(error.what());
    }
    if (!job) {
      end(member, job.error());
      return false;
    }
    member.job = std::move(*job);
    return true;
  }

  // Jobs that end are told so on the way.
  Result<void> run_together(const RoundJobs& members) {
    if (members.empty()) return {};
    {
      MutexLock lock(mutex_);
      round_ = members;
      stop_.store(ends_);
      stop_if_nobody_waits();
    }
    Result<void> ran = run_round(members);
    MutexLock lock(mutex_);
    round_.clear();
    return ran;
  }

  Result<void> run_round(const RoundJobs& members) {
    try {
      std::vector<Arrival> arrivals;
      for (const auto& member : members) arrivals.push_back({Duration(0), member->job});
      if (Result<void> loaded = real_->load(std::move(arrivals)); !loaded) return loaded;
      const Result<RealJobsRun> run = real_->run(*decider_, options_.seed);
      if (!run) return run.error();
      return {};
    } catch (const std::exception& error) {
      return failed(error.what());
    }
  }

  void note(const WorldState& state, const Action& action) {
    MutexLock lock(mutex_);
    const RoundJob& member = *round_[static_cast<size_t>(action.job.index)];
    if (member.log != nullptr) note_action(state, action, member.name, *member.log);
  }

  void end_one(const JobRecord& record) {
    MutexLock lock(mutex_);
    RoundJob& member = *round_[static_cast<size_t>(record.id.index)];
    member.outcome = RunReport{record.completion(), {}};
    stop_if_nobody_waits();
    changed_.notify_all();
  }

  void end(RoundJob& member, const Error& error) {
    MutexLock lock(mutex_);
    if (!member.outcome) member.outcome = error;
    changed_.notify_all();
  }

  bool is_wanted(const RoundJob& member) const {
    MutexLock lock(mutex_);
    return member.wanted();
  }

  // Those of the round that have not ended were all cancelled.
  void stop_if_nobody_waits() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_)) {
    bool goes_on = false;
    for (const auto& member : round_) {
      if (member->wanted()) return;
      goes_on = goes_on || !member->outcome;
    }
    if (goes_on) stop_.store(true);
  }

  Cluster cluster_;
  RunnerOptions options_;
  RoundsOptions rounds_;
  std::unique_ptr<Decider> decider_;
  std::atomic<bool> stop_{false};  // the round under way
  std::unique_ptr<RealCluster> real_;

  mutable Mutex mutex_;
  std::condition_variable_any came_;     // a job, or all ends
  std::condition_variable_any changed_;  // a job has ended
  RoundJobs waiting_ GUARDED_BY(mutex_);
  RoundJobs round_ GUARDED_BY(mutex_);  // by JobId; empty between rounds
  size_t last_ GUARDED_BY(mutex_);      // how many jobs the last round had
  bool ends_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Runner>> make_rounds_runner(const Machine& machine, RunnerOptions options,
                                                   RoundsOptions rounds, const MakeDecider& make) {
  Result<Cluster> cluster = Cluster::make(machine, options.costs);
  if (!cluster) return cluster.error();
  auto runner =
      std::make_unique<Rounds>(std::move(*cluster), std::move(options), std::move(rounds));
  if (const Result<void> good = runner->open(make); !good) return good.error();
  return std::unique_ptr<Runner>(std::move(runner));
}

}  // namespace tutti
