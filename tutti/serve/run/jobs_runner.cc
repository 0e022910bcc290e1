#include "tutti/serve/run/jobs_runner.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <optional>
#include <utility>

#include "tutti/base/mutex.h"
#include "tutti/costs/assumed.h"

namespace tutti {
namespace {

// How often a job that runs looks whether it was cancelled.
constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

// A job that a caller waits for. Guarded by the mutex of the runner.
struct Waited {
  std::string name;
  DecisionLog* log = nullptr;  // the caller's
  std::shared_ptr<JobWorld::Entry> entry{};
  std::condition_variable_any* changed = nullptr;
  std::optional<Result<JobRecord>> outcome{};
};

class JobsRunner final : public Runner {
 public:
  JobsRunner(std::unique_ptr<JobWorld> world, JobsRunnerOptions options,
             std::unique_ptr<CommandRunner> commands)
      : options_(std::move(options)), commands_(std::move(commands)), world_(std::move(world)) {}

  // Once, before anything else.
  Result<void> open(ClientShares& shares) {
    Result<std::unique_ptr<Decider>> made = options_.decider(world_->cluster(), world_->counters());
    if (!made) return made.error();
    world_->begin(std::make_unique<Noting>(*this, std::move(*made)), shares, options_.seed);
    return {};
  }

  const char* name() const override { return world_->name(); }
  std::string policy() const override { return options_.policy; }
  int places() const override { return options_.places; }
  const Machine& machine() const override { return world_->cluster().machine(); }
  bool simulated() const override { return world_->simulated(); }
  Duration share_time() const override { return world_->share_time(); }
  std::vector<Utilisation> utilisation() const override { return world_->utilisation(); }
  void rules_changed() override { world_->rules_changed(); }

  Deciding deciding() const override {
    return {asked_.load(std::memory_order_relaxed),
            Duration(deciding_.load(std::memory_order_relaxed))};
  }

  Result<PreparedJob> prepare(Graph graph) const override {
    if (graph.size() == 0) return invalid_input("the graph has no ops to run");
    const bool programs = graph.command_count() > 0;
    if (programs && commands_ != nullptr) return commands_->prepare(std::move(graph));
    if (!options_.one_job_at_a_look && graph.size() > options_.most_ops) {
      return invalid_input(fmt::format(
          "the graph has {} ops, and jobs may have {} under policy {}; a server whose --policy "
          "looks at one job at a time, such as critical_path, runs it",
          graph.size(), options_.most_ops, options_.policy));
    }
    Result<std::shared_ptr<Job>> job = failed("not made");
    if (programs) {
      CostSpec costs = world_->cluster().costs();
      assume_equal_commands(graph, costs);
      job = world_->cluster().make_job(std::move(graph), costs);
    } else {
      job = world_->cluster().make_job(std::move(graph), world_->cluster().costs());
    }
    if (!job) return job.error();
    const Problem& problem = (*job)->problem();
    if (Result<void> good = world_->check(problem, options_.one_job_at_a_look); !good)
      return good.error();
    PreparedJob prepared{
        .graph = {*job, &(*job)->graph()}, .job = *job, .least = (*job)->critical_path()};
    for (const OpId op : (*job)->graph().ops()) prepared.work += (*job)->least_run_time(op);
    return prepared;
  }

  Result<RunReport> run(const PreparedJob& prepared, const RunContext& context,
                        DecisionLog& log) override {
    if (prepared.job == nullptr) return commands_->run(prepared, context, log);
    const Job* const key = prepared.job.get();
    auto entry = world_->prepare(
        prepared.job, context.account,
        [this, key](Result<JobRecord> record) { note_end(key, std::move(record)); });
    if (!entry) return entry.error();
    std::condition_variable_any changed;
    {
      MutexLock lock(mutex_);
      waited_[key] = {.name = context.job, .log = &log, .entry = *entry, .changed = &changed};
    }
    world_->admit(*entry);
    MutexLock lock(mutex_);
    Waited& mine = waited_[key];
    while (!mine.outcome && !context.stop.now()) changed.wait_for(mutex_, kBetweenLooks);
    if (!mine.outcome) {
      world_->withdraw(*entry);
      mine.outcome = failed("cancelled");
    }
    Result<JobRecord> record = std::move(*mine.outcome);
    waited_.erase(key);
    if (!record) return record.error();
    const Duration makespan = record->completion();
    return RunReport{.makespan = makespan, .record = std::move(*record)};
  }

  std::string why_waiting(const std::string& job) const override {
    MutexLock lock(mutex_);
    for (const auto& [key, waited] : waited_) {
      if (waited.name != job || !waited.entry->waits_for_memory()) continue;
      return "waits for memory: its values might not fit together with those of the jobs that run";
    }
    return {};
  }

 private:
  // Logs the decisions about jobs whose callers wait.
  class Noting final : public Decider {
   public:
    Noting(JobsRunner& runner, std::unique_ptr<Decider> inner)
        : runner_(runner), inner_(std::move(inner)) {}
    void begin(const Cluster& cluster, uint64_t seed) override { inner_->begin(cluster, seed); }
    Action decide(const WorldState& state) override {
      const auto began = std::chrono::steady_clock::now();
      const Action action = inner_->decide(state);
      runner_.deciding_.fetch_add(Duration(std::chrono::steady_clock::now() - began).count(),
                                  std::memory_order_relaxed);
      runner_.asked_.fetch_add(1, std::memory_order_relaxed);
      if (action.kind == Action::Kind::execute && check_action(state, action)) {
        runner_.note(state, action);
      }
      return action;
    }

   private:
    JobsRunner& runner_;
    std::unique_ptr<Decider> inner_;
  };

  void note(const WorldState& state, const Action& action) {
    MutexLock lock(mutex_);
    const auto found = waited_.find(state.job(action.job).job.get());
    if (found == waited_.end()) return;
    note_action(state, action, found->second.name, *found->second.log);
  }

  void note_end(const Job* key, Result<JobRecord> record) {
    MutexLock lock(mutex_);
    const auto found = waited_.find(key);
    if (found == waited_.end()) return;
    found->second.outcome = std::move(record);
    found->second.changed->notify_all();
  }

  JobsRunnerOptions options_;
  std::unique_ptr<CommandRunner> commands_;
  std::atomic<int64_t> asked_{0};
  std::atomic<int64_t> deciding_{0};  // ns
  mutable Mutex mutex_;
  std::map<const Job*, Waited> waited_ GUARDED_BY(mutex_);
  std::unique_ptr<JobWorld> world_;  // last: its threads use the others
};

}  // namespace

Result<std::unique_ptr<Runner>> make_jobs_runner(std::unique_ptr<JobWorld> world,
                                                 JobsRunnerOptions options, ClientShares& shares,
                                                 std::unique_ptr<CommandRunner> commands) {
  auto runner =
      std::make_unique<JobsRunner>(std::move(world), std::move(options), std::move(commands));
  if (const Result<void> good = runner->open(shares); !good) return good.error();
  return std::unique_ptr<Runner>(std::move(runner));
}

}  // namespace tutti
