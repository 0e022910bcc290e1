#include "tutti/serve/run/cluster_runner.h"

#include <chrono>
#include <condition_variable>
#include <utility>

#include "tutti/belief/belief.h"
#include "tutti/policy/symphony/model.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"

namespace tutti {
namespace {

// Records of jobs that have ended are kept until the simulation starts again; beyond this many, new
// jobs wait for that.
constexpr size_t kMostRecords = 10000;
// Other threads that wait get a turn after so many decisions.
constexpr int kDecisionsInOneGo = 256;
constexpr auto kBetweenBeliefs = std::chrono::milliseconds(200);

// What runner and meter share.
class World {
 public:
  World(Cluster cluster, uint64_t seed)
      : cluster_(std::move(cluster)),
        seed_(seed),
        counters_(usual_counters(cluster_.machine())),
        sim_(cluster_, {.counters = counters_}),
        belief_(cluster_.machine(), counters_),
        constants_(first_constants(belief_.network())) {}

  // Before any run.
  Result<void> decide_by(const MakeDecider& make) {
    Result<std::unique_ptr<Decider>> made = make(cluster_, counters_);
    if (!made) return made.error();
    MutexLock lock(mutex_);
    decider_ = std::move(*made);
    begin_anew();
    return {};
  }

  const Machine& machine() const { return cluster_.machine(); }
  const CostSpec& costs() const { return cluster_.costs(); }

  Result<RunReport> run(const Graph& graph, const std::string& name, Stop stop, DecisionLog& log) {
    MutexLock lock(mutex_);
    while (sim_.jobs().size() >= kMostRecords && running_ > 0) ended_.wait(mutex_);
    if (running_ == 0) begin_anew();
    Result<std::shared_ptr<const Job>> job = cluster_.add_job(graph);
    if (!job) return job.error();
    const JobId id = sim_.arrive(std::move(*job));
    names_.push_back(name);
    ++running_;
    const Result<void> done = follow(id, stop, log);
    --running_;
    ended_.notify_all();
    if (!done) return done.error();
    const JobRecord& record = sim_.jobs()[static_cast<size_t>(id.index)];
    return RunReport{record.completion(), {}};
  }

  // Nothing while no job runs: simulated time stands still, and what was believed is of the past.
  std::vector<Utilisation> utilisation() const {
    MutexLock lock(mutex_);
    if (running_ == 0) return {};
    return utilisation_;
  }

 private:
  void begin_anew() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_)) {
    sim_.reset({}, seed_);
    decider_->begin(cluster_, seed_);
    names_.clear();
  }

  // Decides for all jobs, in turn with other threads, until this one has ended. One that is
  // stopped goes on in the simulation, unobserved.
  Result<void> follow(JobId id, Stop stop, DecisionLog& log)
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_)) {
    for (int turn = 1; !sim_.ended(id); ++turn) {
      if (stop.now()) return failed("cancelled");
      const Action action = decider_->decide(sim_.state());
      if (action.kind == Action::Kind::execute) {
        note_action(sim_.state(), action, names_[static_cast<size_t>(action.job.index)], log);
      }
      const Result<double> stepped = sim_.step(action);
      if (!stepped) return stepped.error();
      believe();
      if (turn % kDecisionsInOneGo == 0) {
        mutex_.unlock();
        std::this_thread::yield();
        mutex_.lock();
      }
    }
    return {};
  }

  void believe() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_)) {
    const auto now = std::chrono::steady_clock::now();
    if (now - believed_ < kBetweenBeliefs) return;
    believed_ = now;
    const WorldState& state = sim_.state();
    utilisation_ =
        believed(belief_, counters_, belief_.infer(constants_, {state.readings, state.launched}));
  }

  mutable Mutex mutex_;
  std::condition_variable_any ended_;
  Cluster cluster_;
  std::unique_ptr<Decider> decider_ GUARDED_BY(mutex_);
  uint64_t seed_;
  std::vector<Counter> counters_;
  JobSimulator sim_ GUARDED_BY(mutex_);
  Belief belief_;
  std::vector<double> constants_;
  int running_ GUARDED_BY(mutex_) = 0;
  std::vector<std::string> names_ GUARDED_BY(mutex_);  // by JobId
  std::chrono::steady_clock::time_point believed_ GUARDED_BY(mutex_){};
  std::vector<Utilisation> utilisation_ GUARDED_BY(mutex_);
};

class ClusterRunner : public Runner {
 public:
  ClusterRunner(std::shared_ptr<World> world, std::string policy, int places)
      : world_(std::move(world)), policy_(std::move(policy)), places_(places) {}

  const char* name() const override { return "cluster"; }
  std::string policy() const override { return policy_; }
  int places() const override { return places_; }
  Result<void> check(const Graph& graph) const override {
    return check_runnable(graph, world_->machine(), world_->costs());
  }
  Result<RunReport> run(const Graph& graph, const RunContext& context, DecisionLog& log) override {
    return world_->run(graph, context.job, context.stop, log);
  }

 private:
  std::shared_ptr<World> world_;
  std::string policy_;
  int places_;
};

class ClusterMeter : public Meter {
 public:
  explicit ClusterMeter(std::shared_ptr<World> world) : world_(std::move(world)) {}
  std::vector<Utilisation> now() const override { return world_->utilisation(); }
  void note(const RunReport& /*report*/) override {}
  const char* what() const override { return "believed from simulated counters"; }

 private:
  std::shared_ptr<World> world_;
};

}  // namespace

Result<ServedCluster> serve_cluster(const Machine& machine, RunnerOptions options, int places,
                                    const MakeDecider& make) {
  Result<Cluster> cluster = Cluster::make(machine, options.costs);
  if (!cluster) return cluster.error();
  auto world = std::make_shared<World>(std::move(*cluster), options.seed);
  if (const Result<void> good = world->decide_by(make); !good) {
    return good.error();
  }
  return ServedCluster{std::make_unique<ClusterRunner>(world, options.policy, places),
                       std::make_unique<ClusterMeter>(world)};
}

}  // namespace tutti
