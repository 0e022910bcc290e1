#include "tutti/runtime/starpu/starpu.h"

#include <fmt/format.h>
#include <malloc.h>

#include <cstring>
#include <map>

#include "tutti/runtime/starpu/online_run.h"
#include "tutti/runtime/starpu/rank_run.h"
#include "tutti/runtime/starpu/scratch.h"

namespace tutti {
namespace {

using Results = std::map<ValueId, std::vector<std::byte>>;

std::string to_bytes(const Results& results) {
  std::string bytes;
  for (const auto& [value, data] : results) {
    const int64_t head[2] = {value.index, static_cast<int64_t>(data.size())};
    bytes.append(reinterpret_cast<const char*>(head), sizeof(head));
    bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
  }
  return bytes;
}

void add_results(const std::string& bytes, Results& results) {
  for (size_t at = 0; at < bytes.size();) {
    int64_t head[2];
    std::memcpy(head, bytes.data() + at, sizeof(head));
    at += sizeof(head);
    const auto* data = reinterpret_cast<const std::byte*>(bytes.data() + at);
    results[ValueId{static_cast<int32_t>(head[0])}] = {data, data + head[1]};
    at += static_cast<size_t>(head[1]);
  }
}

}  // namespace

class StarpuRuntime::Engine {
 public:
  Engine(const Machine& machine, OpTable ops, StarpuRanks& ranks, Layout layout)
      : machine_(machine),
        ops_(std::move(ops)),
        ranks_(ranks),
        layout_(std::move(layout)),
        workers_(machine, layout_.devices_of(ranks.rank()), ranks.cores(), most_starpu_workers()),
        queues_(machine.size(), workers_, workers_.share_cores() || ranks.shares_cores()) {
    if (ranks.several()) messages_ = std::make_unique<Messages>(ranks, workers_.spare_cores());
    // Values come and go with each run: without this, so do the pages under them.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
  }

  Result<Trace> run(const Problem& problem, const Plan& plan) {
    if (Result<void> good = begin(problem); !good) return good.error();
    RankRun run(place(), *session_, problem);
    if (Result<void> good = ranks_.agree(run.prepare(plan)); !good) return good.error();
    const Result<void> ran = run.run(plan);
    if (Result<void> good = ranks_.agree(ran, run.failed_at()); !good) return good.error();
    results_ = run.take_results();
    std::vector<RankRecords> records;
    for (const std::string& bytes : ranks_.gather(tutti::to_bytes(run.records()))) {
      records.push_back(records_from(bytes));
    }
    Trace trace = to_trace(problem, options_.scheduler, records);
    trace.order = ReadyOrder::priority;
    if (!options_.scheduler.empty()) trace.order.reset();
    trace.makespan =
        Duration(std::stoll(ranks_.broadcast(fmt::format("{}", trace.makespan.count()))));
    return trace;
  }

  Result<Trace> run_online(const Problem& problem, Policy& policy) {
    if (ranks_.several()) {
      return invalid_input(
          "an online policy can be asked on one rank alone; plan ahead (leave out --online), or "
          "start a single rank");
    }
    if (!options_.scheduler.empty()) {
      return invalid_input("either an online policy decides or a scheduler of StarPU, not both");
    }
    if (Result<void> good = begin(problem); !good) return good.error();
    OnlineRun run(place(), *session_, problem, policy);
    if (Result<void> ran = run.run(); !ran) return ran.error();
    results_ = run.take_results();
    return run.trace();
  }

  Result<void> collect_results() {
    const std::vector<std::string> all = ranks_.gather(to_bytes(results_));
    for (const std::string& bytes : all) add_results(bytes, results_);
    return {};
  }

  Result<std::vector<std::byte>> result(ValueId value) const {
    const auto found = results_.find(value);
    if (found != results_.end()) return found->second;
    return invalid_input(fmt::format("value {} is not a result of the last run", value.index));
  }

  std::string note() const { return workers_.note(); }
  void set_options(StarpuOptions options) { options_ = std::move(options); }

 private:
  RankRun::Place place() {
    return {machine_, layout_, ops_, workers_, queues_, ranks_, messages_.get(), inputs_, options_};
  }

  Result<void> check(const Problem& problem) const {
    if (problem.machine.fingerprint() != machine_.fingerprint()) {
      return invalid_input(
          fmt::format("the problem's machine '{}' is not '{}', to which this runtime is bound",
                      problem.machine.name(), machine_.name()));
    }
    if (!options_.scheduler.empty() && !(layout_.one_memory_each() && workers_.one_each())) {
      return invalid_input(
          fmt::format("StarPU's scheduler '{}' needs hosts whose devices share one memory and have "
                      "{} slots at most together",
                      options_.scheduler, most_starpu_workers()));
    }
    return {};
  }

  // Collective: StarPU is up with the right scheduler, and inputs of other graphs are forgotten.
  Result<void> begin(const Problem& problem) {
    if (Result<void> good = ranks_.agree(check(problem)); !good) return good;
    if (graph_ != problem.graph.fingerprint()) inputs_.clear();
    graph_ = problem.graph.fingerprint();
    if (session_ != nullptr && session_->scheduler() == options_.scheduler) return {};
    session_.reset();
    workers_.forget_threads();
    Session::Spec spec{.workers = workers_.count(),
                       .scheduler = options_.scheduler,
                       .policy = options_.scheduler.empty() ? queues_.policy() : nullptr,
                       .run = RankRun::run_codelet,
                       .footprint = RankRun::footprint};
    Result<std::unique_ptr<Session>> opened = Session::open(spec, ranks_);
    if (!opened) return opened.error();
    session_ = std::move(*opened);
    return {};
  }

  const Machine& machine_;
  OpTable ops_;
  StarpuRanks& ranks_;
  Layout layout_;
  Scratch scratch_;
  Workers workers_;
  PlacedQueues queues_;
  StarpuOptions options_;
  uint64_t graph_ = 0;
  KeptBlocks inputs_;
  Results results_;
  std::unique_ptr<Messages> messages_;  // none: one rank alone
  std::unique_ptr<Session> session_;    // last: it uses the others
};

StarpuRuntime::StarpuRuntime(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
StarpuRuntime::~StarpuRuntime() = default;

Result<std::unique_ptr<StarpuRuntime>> StarpuRuntime::open(const Machine& machine, OpTable ops,
                                                           StarpuRanks& ranks) {
  Result<Layout> layout = Layout::make(machine, ranks.host_names());
  if (!layout) return layout.error();  // the same at every rank
  auto engine = std::make_unique<Engine>(machine, std::move(ops), ranks, std::move(*layout));
  return std::unique_ptr<StarpuRuntime>(new StarpuRuntime(std::move(engine)));
}

void StarpuRuntime::set_options(StarpuOptions options) {
  engine_->set_options(std::move(options));
}

std::string StarpuRuntime::note() const {
  return engine_->note();
}

Result<Trace> StarpuRuntime::run(const Problem& problem, const Plan& plan) {
  return engine_->run(problem, plan);
}

Result<Trace> StarpuRuntime::run_online(const Problem& problem, Policy& policy) {
  return engine_->run_online(problem, policy);
}

Result<void> StarpuRuntime::collect_results() {
  return engine_->collect_results();
}

Result<std::vector<std::byte>> StarpuRuntime::result(ValueId value) const {
  return engine_->result(value);
}

}  // namespace tutti
