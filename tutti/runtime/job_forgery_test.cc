// Runs of arriving jobs against the judge of jobs: none of the simulator's is refused, and every
// forgery is, by the rule that it breaks and with a sentence about it.

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "tutti/runtime/sim/jobs/job_simulator.h"
#include "tutti/runtime/sim/jobs/testing.h"
#include "tutti/trace/check_jobs.h"

namespace tutti {
namespace {

using testing::add;
using testing::chain;
using testing::small_cluster;

// Any legal action but nothing, by chance; nothing if that is all.
class JobsByChance final : public Decider {
 public:
  void begin(const Cluster&, uint64_t seed) override { rng_ = Rng(seed); }
  Action decide(const WorldState& state) override {
    legal_actions(state, actions_);
    if (actions_.size() > 1 && actions_.back().kind == Action::Kind::no_op) actions_.pop_back();
    const auto at = static_cast<size_t>(rng_.uniform() * static_cast<double>(actions_.size()));
    return actions_[at];
  }

 private:
  Rng rng_{0};
  std::vector<Action> actions_;
};

struct JobsSpecimen {
  std::shared_ptr<const Cluster> cluster;
  JobsRecord run;
  JobsRules rules;

  Judgement judge() const { return judge_jobs(*cluster, run, rules); }
  const Machine& machine() const { return cluster->machine(); }
  JobRecord& job(size_t i) { return run.jobs[i]; }
};

// Twenty jobs of five ops each, whose values of 2000 bytes take 200 ns and more over links.
JobsSpecimen specimen_of(uint64_t seed, JobSimOptions options) {
  auto cluster = std::make_shared<Cluster>(small_cluster());
  const std::vector<std::shared_ptr<const Job>> jobs = {
      add(*cluster, chain({"compute", "stream", "match", "stream", "compute"}, 2000)),
      add(*cluster, chain({"match", "compute", "match", "stream", "compute"}, 2000))};
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 20; ++i) arrivals.push_back({Duration(600 * i), jobs[i % 2]});
  options.record = true;
  JobSimulator sim(*cluster, options);
  JobsByChance decider;
  Result<JobsRecord> run = run_jobs(sim, arrivals, decider, seed);
  EXPECT_TRUE(run) << run.error().message;
  JobsSpecimen one{cluster, std::move(*run), sim.rules()};
  one.rules.limit = 1000;
  return one;
}

std::vector<JobsSpecimen> genuine_job_runs() {
  std::vector<JobsSpecimen> all;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    all.push_back(specimen_of(seed, {.noise = false}));
    all.push_back(specimen_of(seed, {.queue_depth = 2, .noise = false}));
    all.push_back(specimen_of(
        seed, {.queue_depth = 1, .noise = false, .truth = {.link = 0.7, .memory = 0.5}}));
    all.push_back(specimen_of(seed, {.queue_depth = 3, .unknown_load = {.share = 0.5}}));
  }
  return all;
}

std::string jobs_told(const Judgement& found) {
  std::string all;
  for (const Fault& fault : found.faults) all += "\n  " + fault.rule + ": " + fault.sentence;
  return all;
}

bool is_aside(const Judgement& found, const std::string& rule) {
  return std::any_of(found.not_applied.begin(), found.not_applied.end(),
                     [&](const NotApplied& one) { return one.rule == rule; });
}

TEST(JobsJudge, PassesRunsOfTheSimulator) {
  for (const JobsSpecimen& one : genuine_job_runs()) {
    const Judgement found = one.judge();
    EXPECT_TRUE(found.good()) << jobs_told(found);
    EXPECT_EQ(is_aside(found, "shares"), one.rules.hidden_load);
    for (const char* rule : {"jobs", "placing", "transfers", "queues", "waiting ops", "contexts"})
      EXPECT_FALSE(is_aside(found, rule)) << rule;
  }
}

// A span and whose it is.
struct FoundOp {
  JobRecord* job = nullptr;
  OpSpan* span = nullptr;
  explicit operator bool() const { return span != nullptr; }
};

FoundOp find_job_op(JobsSpecimen& one, const std::function<bool(JobRecord&, OpSpan&)>& wanted) {
  for (JobRecord& job : one.run.jobs) {
    for (OpSpan& span : job.trace.ops) {
      if (wanted(job, span)) return {&job, &span};
    }
  }
  return {};
}

FoundOp op_on(JobsSpecimen& one, const std::string& device) {
  return find_job_op(one, [&](JobRecord&, OpSpan& span) {
    return one.machine().device(span.device).name == device;
  });
}

FoundOp last_op(JobRecord& job) {
  OpSpan* last = nullptr;
  for (OpSpan& span : job.trace.ops) {
    if (last == nullptr || span.finish > last->finish) last = &span;
  }
  return {&job, last};
}

PlacedAt& placed_of(JobRecord& job, OpId op) {
  const auto found = std::find_if(job.trace.placed.begin(), job.trace.placed.end(),
                                  [&](const PlacedAt& placed) { return placed.op == op; });
  EXPECT_NE(found, job.trace.placed.end());
  return *found;
}

// Its end, and that of the job and the run if they end with it.
void end_later(JobsSpecimen& one, const FoundOp& op, Duration by) {
  const Duration before = op.span->finish;
  op.span->finish += by;
  if (op.job->finish == before) op.job->finish += by;
  one.run.makespan = Duration(0);
  for (const JobRecord& job : one.run.jobs)
    one.run.makespan = std::max(one.run.makespan, job.finish);
}

// One that starts as soon as it is given to a device without contexts.
FoundOp op_at_once(JobsSpecimen& one) {
  return find_job_op(one, [&](JobRecord& job, OpSpan& span) {
    return span.start > Duration(0) && placed_of(job, span.op).time == span.start &&
           one.machine().device(span.device).contexts == 0;
  });
}

struct JobsForgery {
  const char* rule;
  const char* name;
  const char* sentence;                      // a part of it
  std::function<bool(JobsSpecimen&)> forge;  // false: does not fit this run
};

const std::vector<JobsForgery>& record_forgeries() {
  static const std::vector<JobsForgery> all = {
      {"identity", "another graph", "is of another graph or machine",
       [](JobsSpecimen& one) { return ++one.job(3).trace.graph_fingerprint, true; }},
      {"identity", "a simulated run said to be real", "is of a real run",
       [](JobsSpecimen& one) {
         one.job(3).trace.runtime = {.name = "local", .movement = Movement::direct};
         return true;
       }},
      {"shape", "an op left out", "which has ended, did not run",
       [](JobsSpecimen& one) { return one.job(1).trace.ops.pop_back(), true; }},
      {"shape", "an op that ran twice", "ran twice",
       [](JobsSpecimen& one) {
         std::vector<OpSpan>& ops = one.job(1).trace.ops;
         return ops.push_back(ops[0]), true;
       }},
      {"shape", "a slot too many", "ran in slot 4 of 'cpu', which has 4",
       [](JobsSpecimen& one) {
         const FoundOp op = op_on(one, "cpu");
         return op && (op.span->slot = 4);
       }},
      {"shape", "a hop too many", "over hop 7, which does not exist",
       [](JobsSpecimen& one) {
         std::vector<TransferSpan>& spans = one.job(0).trace.transfers;
         return !spans.empty() && (spans[0].hop = 7);
       }},
      {"shape", "placed twice", "was given to devices twice and not taken back",
       [](JobsSpecimen& one) {
         std::vector<PlacedAt>& placed = one.job(1).trace.placed;
         return placed.push_back(placed[0]), true;
       }},
      {"jobs", "before its arrival", "arrived at 1200 ns, but something of it happened at 1100 ns",
       [](JobsSpecimen& one) {
         JobRecord& job = one.job(2);
         job.start = Duration(1100);
         placed_of(job, OpId{0}).time = job.start;
         return true;
       }},
      {"jobs", "an end before its last op", "but something of it happened at",
       [](JobsSpecimen& one) { return one.job(2).finish -= Duration(10), true; }},
      {"jobs", "an end after its last op", "but its last op at",
       [](JobsSpecimen& one) { return one.job(2).finish += Duration(10), true; }},
      {"jobs", "a beginning after its first placement", "but its first op was given to a device at",
       [](JobsSpecimen& one) { return one.job(2).start += Duration(1), true; }},
      {"jobs", "a run that ended sooner", "but its last job ended at",
       [](JobsSpecimen& one) { return one.run.makespan -= Duration(1), true; }},
  };
  return all;
}

const std::vector<JobsForgery>& placing_forgeries() {
  static const std::vector<JobsForgery> all = {
      {"placement", "a device that cannot run it", "ran on 'gpu', where it is not allowed",
       [](JobsSpecimen& one) {
         const FoundOp op = op_on(one, "fpga");
         if (!op) return false;
         op.span->device = DeviceId{1};
         return true;
       }},
      {"placing", "started before it was placed", "but was given to",
       [](JobsSpecimen& one) {
         const FoundOp op = op_at_once(one);
         return op && (op.span->start -= Duration(1), true);
       }},
      {"placing", "never placed", "but was not given to it",
       [](JobsSpecimen& one) { return one.job(1).trace.placed.pop_back(), true; }},
      {"placing", "placed before its producer ended", "but its producers ended only at",
       [](JobsSpecimen& one) {
         JobRecord& job = one.job(4);
         placed_of(job, OpId{2}).time = placed_of(job, OpId{1}).time;
         return true;
       }},
      {"take-backs", "taken back after it had started", "was taken back from 'cpu' at",
       [](JobsSpecimen& one) {
         const FoundOp op = op_on(one, "cpu");
         const Duration from = placed_of(*op.job, op.span->op).time;
         op.job->taken_back.push_back({op.span->op, DeviceId{0}, from, op.span->finish});
         return true;
       }},
      {"take-backs", "given to two devices at once", "before it was taken back from 'cpu'",
       [](JobsSpecimen& one) {
         const FoundOp op = find_job_op(one, [](JobRecord& job, OpSpan& span) {
           return placed_of(job, span.op).time < span.start;
         });
         if (!op) return false;
         const Duration from = placed_of(*op.job, op.span->op).time;
         op.job->taken_back.push_back({op.span->op, DeviceId{0}, from, op.span->start});
         return true;
       }},
      {"take-backs", "taken back from a device that cannot run it",
       "was given to 'fpga', where it is not allowed",
       [](JobsSpecimen& one) {
         const FoundOp op = op_on(one, "gpu");
         if (!op) return false;
         const Duration from = placed_of(*op.job, op.span->op).time;
         op.job->taken_back.push_back({op.span->op, DeviceId{2}, from, from});
         return true;
       }},
      {"operands", "started before its operand came", "but its operand 'op",
       [](JobsSpecimen& one) {
         JobRecord& job = one.job(5);
         for (OpSpan& span : job.trace.ops) {
           if (span.op == OpId{3}) span.start = placed_of(job, OpId{1}).time;
         }
         return true;
       }},
      {"operands", "a transfer left out", "which was never sent to",
       [](JobsSpecimen& one) {
         for (JobRecord& job : one.run.jobs) {
           if (job.trace.transfers.empty()) continue;
           const ValueId value = job.trace.transfers[0].value;
           std::erase_if(job.trace.transfers,
                         [&](const TransferSpan& span) { return span.value == value; });
           return true;
         }
         return false;
       }},
  };
  return all;
}

TransferSpan* first_job_hop(JobsSpecimen& one) {
  for (JobRecord& job : one.run.jobs) {
    for (TransferSpan& span : job.trace.transfers) {
      if (span.hop == 0) return &span;
    }
  }
  return nullptr;
}

const std::vector<JobsForgery>& device_forgeries() {
  static const std::vector<JobsForgery> all = {
      {"transfers", "sent before its op was placed",
       "but the first op that reads it there was given at",
       [](JobsSpecimen& one) { return first_job_hop(one)->start -= Duration(1), true; }},
      {"transfers", "sent before it was made", "but was there only at",
       [](JobsSpecimen& one) { return first_job_hop(one)->start = Duration(0), true; }},
      {"transfers", "sent from where it never was", "but was never there",
       [](JobsSpecimen& one) {
         for (JobRecord& job : one.run.jobs) {
           for (TransferSpan& span : job.trace.transfers) {
             // Between gpu and host: from the fpga instead.
             if (span.from.index + span.to.index != 1 || span.to.index != 0) continue;
             span.from = MemoryId{2};
             return true;
           }
         }
         return false;
       }},
      {"transfers", "sent twice", "was sent to 'host' twice",
       [](JobsSpecimen& one) {
         for (JobRecord& job : one.run.jobs) {
           for (const TransferSpan& span : job.trace.transfers) {
             if (one.machine().memory(span.to).name != "host") continue;
             job.trace.transfers.push_back(TransferSpan(span));
             return true;
           }
         }
         return false;
       }},
      {"slots", "an op in a slot that is taken", "both ran in slot",
       [](JobsSpecimen& one) {
         const FoundOp op = op_on(one, "cpu");
         const FoundOp other = find_job_op(one, [&](JobRecord&, OpSpan& span) {
           return span.device == op.span->device && span.slot != op.span->slot &&
                  span.start < op.span->finish && op.span->start < span.finish;
         });
         return other && (other.span->slot = op.span->slot, true);
       }},
      {"queues", "an op more than the queue holds", "places in its queue",
       [](JobsSpecimen& one) {
         for (JobRecord& job : one.run.jobs) {
           for (OpSpan& span : job.trace.ops) {
             if (one.machine().device(span.device).name != "gpu") continue;
             placed_of(job, span.op).time = job.arrival;
           }
         }
         return true;
       }},
      {"queues", "a shorter queue", "but it has 4 slots and 0 places in its queue",
       [](JobsSpecimen& one) {
         if (one.rules.queue_depth < 2) return false;
         one.rules.queue_depth = 0;
         return true;
       }},
      {"waiting ops", "a slot that runs nothing", "with its operands there, but a slot ran nothing",
       [](JobsSpecimen& one) {
         const FoundOp op = op_at_once(one);
         return op && (op.span->start += Duration(20), true);
       }},
      {"waiting ops", "a context that waits", "waited on 'fpga' until",
       [](JobsSpecimen& one) {
         const FoundOp op = op_on(one, "fpga");
         return op && (op.span->start += Duration(1), true);
       }},
      {"waiting ops", "taken back although it could run", "waited on 'cpu' until 50 ns",
       [](JobsSpecimen& one) {
         JobRecord& job = one.job(0);
         const Duration from = job.arrival;
         job.start = from;
         job.taken_back.push_back({OpId{0}, DeviceId{0}, from, from + Duration(50)});
         return true;
       }},
      {"contexts", "a context of another kind", "which was configured for 'compute'",
       [](JobsSpecimen& one) {
         if (one.run.reconfigurations.empty()) return false;
         for (Reconfiguration& each : one.run.reconfigurations) each.kind = OpKindId{0};
         return true;
       }},
      {"contexts", "never configured", "which was configured for nothing",
       [](JobsSpecimen& one) {
         if (!op_on(one, "fpga")) return false;
         return one.run.reconfigurations.clear(), true;
       }},
      {"contexts", "configured too quickly", "it takes 500 ns",
       [](JobsSpecimen& one) {
         if (one.run.reconfigurations.empty()) return false;
         return one.run.reconfigurations[0].finish -= Duration(1), true;
       }},
      {"contexts", "configured while an op ran", "was configured at",
       [](JobsSpecimen& one) {
         const FoundOp op = op_on(one, "fpga");
         if (!op) return false;
         one.run.reconfigurations.push_back(
             {DeviceId{2}, 0, OpKindId{0}, op.span->start, op.span->start + Duration(500)});
         return true;
       }},
      {"run times", "an op quicker than alone", "less than the 1000 ns that it needs alone",
       [](JobsSpecimen& one) {
         if (one.rules.noise) return false;
         const FoundOp op = find_job_op(one, [](JobRecord& job, OpSpan& span) {
           return span.device == DeviceId{0} && job.job->graph().op_kind_name(span.op) != "match";
         });
         return op && (op.span->finish = op.span->start + Duration(900), true);
       }},
      {"run times", "a hop quicker than alone", "less than the 200 ns that it needs alone",
       [](JobsSpecimen& one) {
         TransferSpan* span = first_job_hop(one);
         if (one.rules.noise || span == nullptr) return false;
         return span->finish = span->start + Duration(100), true;
       }},
      {"shares", "an op faster than its share", "it was faster than its share",
       [](JobsSpecimen& one) {
         if (one.rules.hidden_load) return false;
         const FoundOp op = find_job_op(one, [](JobRecord& job, OpSpan& span) {
           return span.finish - span.start >
                  job.job->costs().run_time(span.op, span.device) + Duration(100);
         });
         return op && (end_later(one, op, Duration(-20)), true);
       }},
      {"shares", "an op slower than its share", "it was slower than its share",
       [](JobsSpecimen& one) {
         if (one.rules.hidden_load) return false;
         return end_later(one, last_op(one.run.jobs.back()), Duration(20)), true;
       }},
      {"shares", "a hop slower than its share", "it was slower than its share",
       [](JobsSpecimen& one) {
         TransferSpan* span = first_job_hop(one);
         if (one.rules.hidden_load || span == nullptr) return false;
         return span->finish += Duration(20), true;
       }},
      {"shares", "another truth", "its share",
       [](JobsSpecimen& one) {
         if (one.rules.hidden_load) return false;
         for (double& capacity : one.rules.capacities) capacity *= 0.5;
         return true;
       }},
  };
  return all;
}

void expect_jobs_refused(const std::vector<JobsForgery>& forgeries) {
  const std::vector<JobsSpecimen> runs = genuine_job_runs();
  for (const JobsForgery& forgery : forgeries) {
    int fits = 0;
    for (const JobsSpecimen& run : runs) {
      JobsSpecimen forged = run;
      if (!forgery.forge(forged)) continue;
      ++fits;
      const Judgement found = forged.judge();
      const bool is_refused =
          std::any_of(found.faults.begin(), found.faults.end(), [&](const Fault& fault) {
            return fault.rule == forgery.rule &&
                   fault.sentence.find(forgery.sentence) != std::string::npos;
          });
      EXPECT_TRUE(is_refused) << forgery.rule << ": " << forgery.name << jobs_told(found);
    }
    EXPECT_GT(fits, 0) << forgery.name << " fits no run";
  }
}

TEST(JobsJudge, RefusesForgedRecords) {
  expect_jobs_refused(record_forgeries());
}

TEST(JobsJudge, RefusesForgedPlacements) {
  expect_jobs_refused(placing_forgeries());
}

TEST(JobsJudge, RefusesForgedUseOfDevicesAndLinks) {
  expect_jobs_refused(device_forgeries());
}

TEST(JobsJudge, HasAForgeryForEveryRuleThatItApplies) {
  std::map<std::string_view, int> forgeries;
  for (const auto* list : {&record_forgeries(), &placing_forgeries(), &device_forgeries()}) {
    for (const JobsForgery& one : *list) ++forgeries[one.rule];
  }
  for (const Rule& rule : jobs_rule_table()) {
    if (rule.name != "memory") {
      EXPECT_GT(forgeries[rule.name], 0) << rule.name;
    }
  }
}

// One op on the CPU, and another that was given to it behind: what a device has is counted from
// then until it ends or is taken back.
TEST(JobsJudge, CountsWhatWasTakenBackAsInTheQueueUntilThen) {
  Cluster cluster = small_cluster();
  const auto job = add(cluster, chain({"compute"}));
  std::vector<Arrival> arrivals(6, {Duration(0), job});
  JobSimulator sim(cluster, {.queue_depth = 2, .noise = false, .record = true});
  sim.reset(arrivals, 1);
  for (int32_t i = 0; i < 6; ++i)
    ASSERT_TRUE(sim.step(Action::execute(JobId{i}, OpId{0}, DeviceId{0})));
  while (!sim.done()) ASSERT_TRUE(sim.step(Action::nothing()));
  JobsRecord run{.jobs = sim.jobs()};
  for (const JobRecord& record : run.jobs) run.makespan = std::max(run.makespan, record.finish);
  ASSERT_EQ(check_jobs(cluster, run, sim.rules()), std::vector<std::string>{});

  // The last one had been given to it before and was taken back when it was given again.
  JobRecord& last = run.jobs[5];
  last.taken_back.push_back({OpId{0}, DeviceId{1}, Duration(0), Duration(0)});
  EXPECT_EQ(check_jobs(cluster, run, sim.rules()), std::vector<std::string>{});
  // A third that waits behind four on the CPU is one too many, until it is taken back.
  last.trace.placed[0].time = Duration(600);
  last.taken_back = {{OpId{0}, DeviceId{0}, Duration(0), Duration(600)}};
  EXPECT_EQ(check_jobs(cluster, run, sim.rules()), std::vector<std::string>{});
  JobsRules shorter = sim.rules();
  shorter.queue_depth = 1;
  const Judgement found = judge_jobs(cluster, run, shorter);
  ASSERT_EQ(found.faults.size(), 1U) << jobs_told(found);
  EXPECT_EQ(found.faults[0].sentence,
            "'cpu' had 6 ops at 0 ns, but it has 4 slots and 1 places in its queue");
}

// From the CPU to the GPU in 77 ns, whatever the links could do.
TEST(JobsJudge, KnowsTimesOfTransfersThatAreGivenWithTheGraph) {
  GraphBuilder builder("given");
  const ValueSpec output{.bytes = 2000};
  const OpId make = builder.add_op({.name = "make", .kind = "compute", .outputs = {&output, 1}});
  const ValueId made = builder.outputs(make).front();
  builder.add_op({.name = "read", .kind = "compute", .operands = {&made, 1}});
  builder.give_transfer(EdgeId{0}, {.from_kind = "cpu", .to_kind = "gpu", .time = Duration(77)});
  Cluster cluster = small_cluster();
  JobSimulator sim(cluster, {.noise = false, .record = true});
  sim.reset({{Duration(0), add(cluster, std::move(std::move(builder).build().value()))}}, 1);
  ASSERT_TRUE(sim.step(Action::execute(JobId{0}, OpId{0}, DeviceId{0})));
  while (sim.state().job(JobId{0}).ready.empty()) ASSERT_TRUE(sim.step(Action::nothing()));
  ASSERT_TRUE(sim.step(Action::execute(JobId{0}, OpId{1}, DeviceId{1})));
  while (!sim.done()) ASSERT_TRUE(sim.step(Action::nothing()));
  JobsRecord run{.jobs = sim.jobs(), .makespan = Duration(1177)};
  ASSERT_EQ(check_jobs(cluster, run, sim.rules()), std::vector<std::string>{});

  run.jobs[0].trace.transfers.at(0).finish -= Duration(7);
  const Judgement found = judge_jobs(cluster, run, sim.rules());
  ASSERT_FALSE(found.good());
  EXPECT_EQ(found.faults.back().sentence,
            "value 'make' of job 0 was sent in 70 ns, which is not the time given for it");
}

TEST(JobsJudge, SaysWhatItCannotApplyToRealRuns) {
  JobsSpecimen one = specimen_of(1, {.noise = false});
  one.rules.measured = true;
  for (JobRecord& job : one.run.jobs) job.trace.runtime = {.name = "local"};
  Judgement found = one.judge();
  EXPECT_TRUE(found.good()) << jobs_told(found);
  for (const char* rule : {"shares", "run times", "contexts", "memory"})
    EXPECT_TRUE(is_aside(found, rule)) << rule;
  EXPECT_FALSE(is_aside(found, "waiting ops"));
  // Beyond the patience that is stated a real device must not wait either.
  one.rules.patience = Duration(100);
  const FoundOp op = last_op(one.run.jobs.back());
  op.span->start += Duration(101);
  end_later(one, op, Duration(101));
  found = one.judge();
  ASSERT_EQ(found.faults.size(), 1U) << jobs_told(found);
  EXPECT_EQ(found.faults[0].rule, "waiting ops");
  // Runs that do not say when ops were given to devices.
  for (JobRecord& job : one.run.jobs) job.trace.placed.clear();
  found = one.judge();
  for (const char* rule : {"placing", "queues", "waiting ops"})
    EXPECT_TRUE(is_aside(found, rule)) << rule;
  EXPECT_TRUE(found.good()) << jobs_told(found);
}

// A job that was given up: what ran of it is judged, and from its arrival on nothing that depends
// on what is not recorded.
TEST(JobsJudge, ExcusesJobsThatHaveNotEnded) {
  JobsSpecimen one = specimen_of(2, {.queue_depth = 2, .noise = false});
  JobRecord& last = one.run.jobs.back();
  last.finish = Duration(0);
  last.trace.ops.pop_back();
  one.run.makespan = Duration(0);
  for (const JobRecord& job : one.run.jobs)
    one.run.makespan = std::max(one.run.makespan, job.finish);
  const Judgement found = one.judge();
  EXPECT_TRUE(found.good()) << jobs_told(found);
  EXPECT_TRUE(is_aside(found, "shares"));
  EXPECT_TRUE(is_aside(found, "waiting ops"));
}

}  // namespace
}  // namespace tutti
