#include <fmt/format.h>

#include <utility>

#include "tutti/kernels/inputs.h"
#include "tutti/runtime/arriving/real_cluster.h"
#include "tutti/serve/run/job_world.h"

namespace tutti {
namespace {

struct RealEntry final : JobWorld::Entry {
  bool waits_for_memory() const override { return run->waits_for_memory.load(); }
  std::shared_ptr<JobRun> run;
};

class RealWorld final : public JobWorld {
 public:
  RealWorld(Cluster cluster, RealWorldOptions options, std::unique_ptr<Hardware> hardware)
      : cluster_(std::move(cluster)),
        options_(std::move(options)),
        hardware_(std::move(hardware)) {}

  const char* name() const override { return "local"; }
  bool simulated() const override { return false; }
  const Cluster& cluster() const override { return cluster_; }
  const std::vector<Counter>& counters() const override { return options_.counters; }
  Duration share_time() const override { return share_clock(); }

  Result<void> check(const Problem& problem, bool knows_colocation) const override {
    if (Result<void> good = check_code(problem.graph, cluster_.machine(), options_.ops); !good)
      return good;
    return check_arriving(problem, knows_colocation);
  }

  void begin(std::unique_ptr<Decider> decider, ClientShares& shares, uint64_t seed) override {
    decider_ = std::move(decider);
    seed_ = seed;
    engine_ = std::make_unique<JobEngine>(cluster_, options_.ops, *hardware_,
                                          JobEngineOptions{.queue_depth = options_.queue_depth,
                                                           .note_waits = true,
                                                           .counters = options_.counters,
                                                           .feed = options_.feed.get(),
                                                           .shares = &shares});
    engine_->begin(*decider_, seed);
  }

  Result<std::shared_ptr<Entry>> prepare(std::shared_ptr<Job> job,
                                         std::shared_ptr<JobAccount> account,
                                         Ended ended) override {
    const auto inputs = engine_->prepare(
        job,
        [&](ValueId value, const Block& block) {
          if (can_fill(block.dtype)) fill_input(job->graph(), value, seed_, block);
        },
        /*everywhere=*/false);
    if (!inputs) return inputs.error();
    auto run = engine_->make_run(job, *inputs, [ended = std::move(ended)](const JobRun& over) {
      if (const auto error = over.error()) return ended(*error);
      ended(over.record());
    });
    if (!run) return run.error();
    // The scheduler is the only thread that reads the kinds of the cluster.
    (*run)->before = [this, job] { cluster_.add(*job); };
    (*run)->account = std::move(account);
    auto entry = std::make_shared<RealEntry>();
    entry->run = std::move(*run);
    return std::shared_ptr<Entry>(std::move(entry));
  }

  void admit(const std::shared_ptr<Entry>& entry) override {
    engine_->admit(static_cast<RealEntry&>(*entry).run, /*helps=*/true);
  }
  void withdraw(const std::shared_ptr<Entry>& entry) override {
    engine_->withdraw(static_cast<RealEntry&>(*entry).run, failed("cancelled"));
  }
  void rules_changed() override { engine_->ask_again(); }

 private:
  Cluster cluster_;
  RealWorldOptions options_;
  std::unique_ptr<Hardware> hardware_;
  std::unique_ptr<Decider> decider_;
  uint64_t seed_ = 0;
  std::unique_ptr<JobEngine> engine_;  // last: its threads use the others
};

}  // namespace

Result<void> check_code(const Graph& graph, const Machine& machine, const OpTable& ops) {
  for (const OpId op : graph.ops()) {
    const std::string_view kind = graph.op_kind_name(op);
    bool known = false;
    for (const DeviceId id : machine.devices()) {
      known = known || ops.find(kind, machine.device(id).kind) != nullptr;
    }
    if (!known) {
      return invalid_input(fmt::format("op '{}' is of kind '{}', which no device here has code for",
                                       graph.op_name(op), kind));
    }
  }
  for (const ValueId value : graph.values()) {
    if (!graph.producer(value).valid() && !can_fill(graph.dtype(value))) {
      return invalid_input(fmt::format("input '{}' is of dtype {}, which cannot be filled here",
                                       graph.value_name(value), to_text(graph.dtype(value))));
    }
  }
  return {};
}

Result<std::unique_ptr<JobWorld>> make_real_world(Cluster cluster, RealWorldOptions options) {
  if (Result<void> good = check_no_contexts(cluster.machine()); !good) return good.error();
  Result<std::unique_ptr<Hardware>> hardware = bind_hardware(cluster.machine());
  if (!hardware) return hardware.error();
  return std::unique_ptr<JobWorld>(
      std::make_unique<RealWorld>(std::move(cluster), std::move(options), std::move(*hardware)));
}

}  // namespace tutti
