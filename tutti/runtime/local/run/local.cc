#include "tutti/runtime/local/local.h"

#include "tutti/runtime/local/dispatch/kept_thread.h"
#include "tutti/runtime/local/run/policy_run.h"
#include "tutti/runtime/local/run/run.h"

namespace tutti {

class LocalRuntime::Engine {
 public:
  Engine(const Machine& machine, OpTable ops, std::unique_ptr<Hardware> hardware)
      : machine_(machine),
        ops_(std::move(ops)),
        hardware_(std::move(hardware)),
        run_(machine_, ops_, *hardware_) {}

  Result<Trace> run_online(const Problem& problem, Policy& policy) {
    run_.forget();
    if (online_ == nullptr) online_ = std::make_unique<PolicyRun>(machine_, ops_, *hardware_);
    was_online_ = true;
    return online_->run(problem, policy, options_);
  }

  // A plan's. `begun` says whether the run could begin.
  Result<Trace> finish(const Result<void>& begun) {
    if (online_ != nullptr) online_->forget();
    was_online_ = false;
    if (!begun) {
      run_.forget();
      return begun.error();
    }
    for (Run::Worker* worker : run_.workers()) thread_of(*worker).begin();
    const Result<void> ended = run_.end();
    if (!ended) return ended.error();
    return run_.take_trace();
  }

  const Machine& machine_;
  OpTable ops_;
  std::unique_ptr<Hardware> hardware_;
  LocalOptions options_;
  Run run_;
  std::unique_ptr<PolicyRun> online_;  // made for the first run of a policy
  bool was_online_ = false;            // the last run was a policy's

 private:
  KeptThread& thread_of(Run::Worker& worker) {
    const auto slot = static_cast<size_t>(worker.slot);
    if (threads_.size() <= slot) {
      threads_.resize(slot + 1);
      runners_.resize(slot + 1);
    }
    if (threads_[slot] == nullptr) {
      runners_[slot] = hardware_->slot(worker.device, worker.index);
      worker.runner = runners_[slot].get();
      threads_[slot] = std::make_unique<KeptThread>([this, &worker] { run_.work(worker); });
    }
    return *threads_[slot];
  }

  std::vector<std::unique_ptr<SlotRunner>> runners_;  // by slot
  std::vector<std::unique_ptr<KeptThread>> threads_;  // last: they use the others
};

LocalRuntime::LocalRuntime(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
LocalRuntime::~LocalRuntime() = default;

Result<std::unique_ptr<LocalRuntime>> LocalRuntime::open(const Machine& machine, OpTable ops) {
  Result<std::unique_ptr<Hardware>> hardware = bind_hardware(machine);
  if (!hardware) return hardware.error();
  return open(machine, std::move(ops), std::move(*hardware));
}

Result<std::unique_ptr<LocalRuntime>> LocalRuntime::open(const Machine& machine, OpTable ops,
                                                         std::unique_ptr<Hardware> hardware) {
  auto engine = std::make_unique<Engine>(machine, std::move(ops), std::move(hardware));
  return std::unique_ptr<LocalRuntime>(new LocalRuntime(std::move(engine)));
}

void LocalRuntime::set_options(LocalOptions options) {
  engine_->options_ = std::move(options);
}

std::string LocalRuntime::note() const {
  return engine_->hardware_->note();
}

Result<Trace> LocalRuntime::run(const Problem& problem, const Plan& plan) {
  return engine_->finish(engine_->run_.begin(problem, plan, engine_->options_));
}

Result<Trace> LocalRuntime::run_online(const Problem& problem, Policy& policy) {
  return engine_->run_online(problem, policy);
}

const Trace& LocalRuntime::partial_trace() const {
  return engine_->was_online_ ? engine_->online_->trace() : engine_->run_.trace();
}

std::vector<OpEvents> LocalRuntime::events() const {
  return engine_->was_online_ ? engine_->online_->events() : engine_->run_.events();
}

std::vector<SleepEvent> LocalRuntime::sleeps() const {
  return engine_->was_online_ ? engine_->online_->sleeps() : engine_->run_.sleeps();
}

Result<std::vector<std::byte>> LocalRuntime::result(ValueId value) const {
  return engine_->was_online_ ? engine_->online_->result(value)
                              : engine_->run_.values().result(value);
}

int64_t LocalRuntime::high_water(MemoryId memory) const {
  return engine_->was_online_ ? engine_->online_->high_water(memory)
                              : engine_->run_.values().high_water(memory);
}

}  // namespace tutti
