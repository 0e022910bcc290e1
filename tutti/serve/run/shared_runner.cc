#include "tutti/serve/run/shared_runner.h"

#include <fmt/format.h>

#include <condition_variable>
#include <map>
#include <optional>
#include <utility>

#include "tutti/base/mutex.h"
#include "tutti/kernels/inputs.h"
#include "tutti/runtime/arriving/real_cluster.h"

namespace tutti {
namespace {

// How often a job that runs looks whether it was cancelled.
constexpr auto kBetweenLooks = std::chrono::milliseconds(20);

// A job that a caller waits for. Guarded by the mutex of the runner.
struct Waited {
  std::string name;
  DecisionLog* log = nullptr;  // the caller's
  std::optional<Result<RunReport>> outcome{};
};

class SharedRunner : public Runner {
 public:
  SharedRunner(Cluster cluster, RunnerOptions options, SharedRunnerOptions shared)
      : cluster_(std::move(cluster)), options_(std::move(options)), shared_(std::move(shared)) {}

  // Once, before anything else.
  Result<void> open(const MakeDecider& make) {
    if (Result<void> good = check_no_contexts(cluster_.machine()); !good) return good;
    Result<std::unique_ptr<Decider>> made = make(cluster_, shared_.counters);
    if (!made) return made.error();
    decider_ = std::make_unique<Noting>(*this, std::move(*made));
    Result<std::unique_ptr<Hardware>> hardware = bind_hardware(cluster_.machine());
    if (!hardware) return hardware.error();
    hardware_ = std::move(*hardware);
    engine_ = std::make_unique<JobEngine>(cluster_, shared_.ops, *hardware_,
                                          JobEngineOptions{.queue_depth = shared_.queue_depth,
                                                           .counters = shared_.counters,
                                                           .feed = shared_.feed.get()});
    engine_->begin(*decider_, options_.seed);
    return {};
  }

  const char* name() const override { return "local"; }
  std::string policy() const override { return options_.policy; }
  int places() const override { return shared_.places; }

  Result<void> check(const Graph& graph) const override {
    if (Result<void> good = check_kind(graph); !good) return good;
    const Result<Problem> problem =
        Problem::make(Shared<Graph>::borrowed(graph), cluster_.shared_machine(), cluster_.costs());
    if (!problem) return problem.error();
    return check_arriving(*problem);
  }

  Result<RunReport> run(const Graph& graph, const RunContext& context, DecisionLog& log) override {
    // A journal may have it from a server that ran others.
    if (const Result<void> good = check_kind(graph); !good) return good.error();
    const Result<std::shared_ptr<Job>> job = cluster_.make_job(graph);
    if (!job) return job.error();
    if (const Result<void> good = check_arriving((*job)->problem()); !good) return good.error();
    const auto inputs = engine_->prepare(
        *job,
        [&](ValueId value, const Block& block) {
          if (can_fill(block.dtype)) fill_input((*job)->graph(), value, options_.seed, block);
        },
        /*everywhere=*/false);
    if (!inputs) return inputs.error();
    const auto run =
        engine_->make_run(*job, *inputs, [this](const JobRun& ended) { note_end(ended); });
    if (!run) return run.error();
    // The scheduler is the only thread that reads the kinds of the cluster.
    (*run)->before = [this, job = *job] { cluster_.add(*job); };
    MutexLock lock(mutex_);
    const Job* const key = job->get();
    Waited& mine = waited_[key];
    mine = {.name = context.job, .log = &log};
    engine_->admit(*run);
    while (!mine.outcome && !context.stop.now()) changed_.wait_for(mutex_, kBetweenLooks);
    if (!mine.outcome) {
      engine_->withdraw(*run, failed("cancelled"));
      mine.outcome = failed("cancelled");
    }
    Result<RunReport> outcome = std::move(*mine.outcome);
    waited_.erase(key);
    return outcome;
  }

 private:
  // Logs the decisions about jobs whose callers wait.
  class Noting final : public Decider {
   public:
    Noting(SharedRunner& runner, std::unique_ptr<Decider> inner)
        : runner_(runner), inner_(std::move(inner)) {}
    void begin(const Cluster& cluster, uint64_t seed) override { inner_->begin(cluster, seed); }
    Action decide(const WorldState& state) override {
      const Action action = inner_->decide(state);
      if (action.kind == Action::Kind::execute && check_action(state, action)) {
        runner_.note(state, action);
      }
      return action;
    }

   private:
    SharedRunner& runner_;
    std::unique_ptr<Decider> inner_;
  };

  Result<void> check_kind(const Graph& graph) const {
    if (graph.command_count() > 0) {
      return invalid_input(
          "the graph starts programs, which deciders do not decide about; a server whose "
          "--policy decides about one job at a time, such as critical_path, runs them");
    }
    if (graph.size() > shared_.most_ops) {
      return invalid_input(fmt::format(
          "the graph has {} ops, and jobs that share devices may have {}; a server whose --policy "
          "decides about one job at a time, such as critical_path, runs it",
          graph.size(), shared_.most_ops));
    }
    return check_code(graph, cluster_.machine(), shared_.ops);
  }

  void note(const WorldState& state, const Action& action) {
    MutexLock lock(mutex_);
    const auto found = waited_.find(state.job(action.job).job.get());
    if (found == waited_.end()) return;
    note_action(state, action, found->second.name, *found->second.log);
  }

  void note_end(const JobRun& run) {
    MutexLock lock(mutex_);
    const auto found = waited_.find(run.job().get());
    if (found == waited_.end()) return;
    if (run.error()) {
      found->second.outcome = *run.error();
    } else {
      found->second.outcome = RunReport{run.record().completion(), {}};
    }
    changed_.notify_all();
  }

  Cluster cluster_;
  RunnerOptions options_;
  SharedRunnerOptions shared_;
  std::unique_ptr<Decider> decider_;
  std::unique_ptr<Hardware> hardware_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;  // a job has ended
  std::map<const Job*, Waited> waited_ GUARDED_BY(mutex_);
  std::unique_ptr<JobEngine> engine_;  // last: its threads use the others
};

}  // namespace

Result<std::unique_ptr<Runner>> make_shared_runner(const Machine& machine, RunnerOptions options,
                                                   SharedRunnerOptions shared,
                                                   const MakeDecider& make) {
  Result<Cluster> cluster = Cluster::make(machine, options.costs);
  if (!cluster) return cluster.error();
  auto runner =
      std::make_unique<SharedRunner>(std::move(*cluster), std::move(options), std::move(shared));
  if (const Result<void> good = runner->open(make); !good) return good.error();
  return std::unique_ptr<Runner>(std::move(runner));
}

}  // namespace tutti
