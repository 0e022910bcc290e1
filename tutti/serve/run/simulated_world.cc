#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "tutti/base/mutex.h"
#include "tutti/belief/belief.h"
#include "tutti/plan/world/share_gate.h"
#include "tutti/policy/symphony/model.h"
#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/serve/run/job_world.h"
#include "tutti/serve/run/meter.h"

namespace tutti {
namespace {

// Records of jobs that have ended are kept until the simulation starts again; beyond this many, new
// jobs wait for that.
constexpr size_t kMostRecords = 10000;
constexpr auto kBetweenBeliefs = std::chrono::milliseconds(200);

struct SimulatedEntry final : JobWorld::Entry {
  std::shared_ptr<Job> job;
  std::shared_ptr<JobAccount> account;
  JobWorld::Ended ended;
  std::atomic<bool> withdrawn{false};
};

// One thread simulates. A job that is withdrawn goes on in the simulation, unobserved.
class SimulatedWorld final : public JobWorld {
 public:
  explicit SimulatedWorld(Cluster cluster)
      : cluster_(std::move(cluster)),
        counters_(usual_counters(cluster_.machine())),
        sim_(cluster_, {.counters = counters_, .record = true}),
        belief_(cluster_.machine(), counters_),
        constants_(first_constants(belief_.network())) {}

  ~SimulatedWorld() override {
    {
      const MutexLock lock(mutex_);
      ends_ = true;
      news_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
  }

  const char* name() const override { return "sim"; }
  bool simulated() const override { return true; }
  const Cluster& cluster() const override { return cluster_; }
  const std::vector<Counter>& counters() const override { return counters_; }
  Duration share_time() const override { return Duration(share_time_.load()); }

  Result<void> check(const Problem& problem, bool knows_colocation) const override {
    if (knows_colocation || problem.colocation_group_count() == 0) return {};
    return invalid_input(
        "the graph has ops that must share a device, which the server's policy does not know of; "
        "leave 'colocate' out");
  }

  void begin(std::unique_ptr<Decider> decider, ClientShares& shares, uint64_t seed) override {
    decider_ = std::move(decider);
    seed_ = seed;
    gate_.emplace(shares);
    offset_ = shares.latest();
    share_time_.store(offset_.count());
    begin_again();
    thread_ = std::thread([this] { work(); });
  }

  Result<std::shared_ptr<Entry>> prepare(std::shared_ptr<Job> job,
                                         std::shared_ptr<JobAccount> account,
                                         Ended ended) override {
    auto entry = std::make_shared<SimulatedEntry>();
    entry->job = std::move(job);
    entry->account = std::move(account);
    entry->ended = std::move(ended);
    return std::shared_ptr<Entry>(std::move(entry));
  }

  void admit(const std::shared_ptr<Entry>& entry) override {
    const MutexLock lock(mutex_);
    arriving_.push_back(std::static_pointer_cast<SimulatedEntry>(entry));
    news_.notify_all();
  }

  void withdraw(const std::shared_ptr<Entry>& entry) override {
    static_cast<SimulatedEntry&>(*entry).withdrawn.store(true);
  }

  // Nothing while no job runs: what was believed is of the past.
  std::vector<Utilisation> utilisation() const override {
    const MutexLock lock(mutex_);
    return utilisation_;
  }

 private:
  void begin_again() {
    offset_ += sim_.state().now;
    sim_.reset({}, seed_);
    decider_->begin(cluster_, seed_);
    epoch_ = -1;
  }

  void work() {
    while (take_news()) {
      // News are looked for after so many decisions.
      constexpr int kDecisionsInOneGo = 64;
      for (int i = 0; i < kDecisionsInOneGo && !sim_.done(); ++i) step();
    }
    for (auto& [id, entry] : inside_) {
      leave(id);
      if (entry->ended) entry->ended(failed("cancelled"));
    }
  }

  // The shares outlive this: they must not go on to expect the job's ops.
  void leave(JobId id) {
    const auto& jobs = sim_.state().jobs;
    const auto at = static_cast<size_t>(id.index);
    if (at < jobs.size() && jobs[at] != nullptr) gate_->abandon(*jobs[at]);
    gate_->remove(id);
  }

  // False if all is over.
  bool take_news() {
    std::deque<std::shared_ptr<SimulatedEntry>> arrived;
    {
      MutexLock lock(mutex_);
      if (sim_.done()) utilisation_.clear();
      while (sim_.done() && arriving_.empty() && !ends_) news_.wait(mutex_);
      if (ends_) return false;
      if (sim_.done() || sim_.jobs().size() < kMostRecords) arrived.swap(arriving_);
    }
    if (sim_.done() && !arrived.empty()) begin_again();
    for (auto& entry : arrived) {
      cluster_.add(*entry->job);
      const JobId id = sim_.arrive(entry->job);
      if (entry->account != nullptr) gate_->add(id, entry->account.get());
      inside_.emplace(id, std::move(entry));
    }
    for (auto& [id, entry] : inside_) {
      if (!entry->withdrawn.load() || !entry->ended) continue;
      std::exchange(entry->ended, {})(failed("cancelled"));
    }
    return true;
  }

  Duration now() const { return offset_ + sim_.state().now; }

  void step() {
    const Action action = gate_->decide(sim_.ledger(), *decider_, now());
    if (action.kind == Action::Kind::execute && check_action(sim_.state(), action))
      gate_->given(sim_.state().job(action.job), action.op, action.device);
    const bool held = action.kind == Action::Kind::no_op && gate_->ask_again() != kNever;
    if (held && sim_.state().busy_slots == 0) {
      if (sim_.state().jobs.size() < sim_.jobs().size()) return let_in();
      // Nothing happens until a quota allows it.
      offset_ += gate_->ask_again() - now();
      share_time_.store(now().count());
      return;
    }
    if (const Result<double> stepped = sim_.step(action); !stepped)
      return fail_all(stepped.error());
    share_time_.store(now().count());
    note_finished();
    believe();
  }

  // Jobs that have come are there from now on. The others are hidden meanwhile: the simulator waits
  // for nothing as long as something could run.
  void let_in() {
    WorldLedger& ledger = sim_.ledger();
    const std::vector<JobId> held = sim_.state().in_system;
    for (const JobId id : held) ledger.hide(ledger.job(id));
    const Result<double> stepped = sim_.step(Action::nothing());
    for (const JobId id : held) ledger.show(ledger.job(id));
    if (!stepped) fail_all(stepped.error());
  }

  void note_finished() {
    const WorldState& state = sim_.state();
    if (state.epoch == epoch_) return;
    epoch_ = state.epoch;
    for (const FinishedOp& op : state.finished) {
      const auto found = inside_.find(op.job);
      if (found == inside_.end()) continue;
      gate_->ended(*found->second->job, op, now());
    }
    for (const FinishedOp& op : state.finished) {
      const auto found = inside_.find(op.job);
      if (found == inside_.end() || !sim_.ended(op.job)) continue;
      gate_->remove(op.job);
      const std::shared_ptr<SimulatedEntry> entry = std::move(found->second);
      inside_.erase(found);
      JobRecord record = sim_.take(op.job);
      if (entry->ended) entry->ended(std::move(record));
    }
  }

  // The decider answered what it must not.
  void fail_all(const Error& error) {
    for (auto& [id, entry] : inside_) {
      leave(id);
      if (entry->ended) entry->ended(error);
    }
    inside_.clear();
    begin_again();
  }

  void believe() {
    const auto clock = std::chrono::steady_clock::now();
    if (clock - believed_ < kBetweenBeliefs) return;
    believed_ = clock;
    const WorldState& state = sim_.state();
    std::vector<Utilisation> fresh =
        believed(belief_, counters_, belief_.infer(constants_, {state.readings, state.launched}));
    const MutexLock lock(mutex_);
    utilisation_ = std::move(fresh);
  }

  // Of the thread alone.
  Cluster cluster_;
  std::vector<Counter> counters_;
  JobSimulator sim_;
  Belief belief_;
  std::vector<double> constants_;
  std::unique_ptr<Decider> decider_;
  std::optional<ShareGate> gate_;
  uint64_t seed_ = 0;
  Duration offset_{0};  // of the clock of the shares
  int64_t epoch_ = -1;  // the last whose finished ops were counted
  std::map<JobId, std::shared_ptr<SimulatedEntry>> inside_;
  std::chrono::steady_clock::time_point believed_{};

  std::atomic<int64_t> share_time_{0};
  mutable Mutex mutex_;
  std::condition_variable_any news_;
  std::deque<std::shared_ptr<SimulatedEntry>> arriving_ GUARDED_BY(mutex_);
  std::vector<Utilisation> utilisation_ GUARDED_BY(mutex_);
  bool ends_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<JobWorld> make_simulated_world(Cluster cluster) {
  return std::make_unique<SimulatedWorld>(std::move(cluster));
}

}  // namespace tutti
