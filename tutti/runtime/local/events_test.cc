// The engine's own events, and the judge of them.

#include <gtest/gtest.h>

#include "tutti/runtime/conformance_testing.h"
#include "tutti/runtime/local/events_testing.h"
#include "tutti/runtime/local/testing.h"
#include "tutti/runtime/sim/testing.h"
#include "tutti/trace/check.h"

namespace tutti {
namespace {

using Sentences = std::vector<std::string>;

Duration us(int64_t count) {
  return std::chrono::microseconds(count);
}

// Keeps a core busy for a microsecond for each letter of the name of the op.
OpCode busy_code(const Graph& graph) {
  return [digest = testing::digest_code(graph)](const OpCall& call) -> Result<void> {
    const auto until = std::chrono::steady_clock::now() + us(static_cast<int64_t>(call.op.size()));
    while (std::chrono::steady_clock::now() < until) {
    }
    return digest(call);
  };
}

class TwoOps : public ::testing::Test {
 protected:
  World world_{graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":1},
      {"name":"b","kind":"k","run_time_ns":1}])"),
               testing::cpus(1, 1)};
  Plan plan_ = testing::in_turn(*world_.problem);
  EventRules rules_{.plan = &plan_, .patience = us(10)};

  Sentences faults(Duration ready_b, Duration start_a, Duration start_b) {
    const std::vector<OpEvents> events = {
        {OpId{0}, DeviceId{0}, 0, us(0), start_a, start_a + us(100)},
        {OpId{1}, DeviceId{0}, 0, ready_b, start_b, start_b + us(100)}};
    return events_faults(*world_.problem, events, rules_);
  }
};

TEST_F(TwoOps, OneAfterTheOtherAreFine) {
  EXPECT_EQ(faults(us(0), us(0), us(100)), Sentences{});
  EXPECT_EQ(faults(us(0), us(5), us(109)), Sentences{});
}

TEST_F(TwoOps, AnIdleSlotBesideAReadyOpIsFound) {
  EXPECT_EQ(faults(us(50), us(0), us(111)),
            Sentences{"from 50000 ns on op 'b' was ready on 'cpu0' and waited for 11000 ns beside "
                      "an idle slot"});
  EXPECT_EQ(faults(us(105), us(0), us(111)), Sentences{});  // ready late
}

// Three ops on one device of two slots.
class TwoSlots : public ::testing::Test {
 protected:
  World world_{graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":1},
      {"name":"b","kind":"k","run_time_ns":1},{"name":"c","kind":"k","run_time_ns":1}])"),
               testing::cpus(1, 2)};
  Plan plan_ = testing::in_turn(*world_.problem);

  static OpEvents taken(int op, int slot, Duration queued, Duration from, Duration to,
                        bool looked = true) {
    return {.op = OpId{op},
            .device = DeviceId{0},
            .slot = slot,
            .ready = queued,
            .start = to,
            .finish = to + us(30),
            .queued = queued,
            .look_from = from,
            .look_to = to,
            .looked = looked};
  }
  Sentences faults(const std::vector<OpEvents>& events, const std::vector<SleepEvent>& sleeps) {
    return step_faults(*world_.problem, events, sleeps, {.plan = &plan_});
  }
};

// One slot works on op after op, the other on none, and two ops wait for it all the while.
TEST_F(TwoSlots, ASlotThatNeverWorksBesideABusyOneIsFound) {
  const std::vector<OpEvents> events = {{OpId{0}, DeviceId{0}, 0, us(0), us(0), us(60)},
                                        {OpId{1}, DeviceId{0}, 0, us(0), us(60), us(120)},
                                        {OpId{2}, DeviceId{0}, 0, us(0), us(120), us(180)}};
  EXPECT_EQ(events_faults(*world_.problem, events, {.plan = &plan_, .patience = us(50)}).size(),
            2U);
}

TEST_F(TwoSlots, TheBestOfWhatASlotCouldSeeIsFine) {
  EXPECT_EQ(faults({taken(0, 0, us(0), us(5), us(6)), taken(1, 1, us(0), us(8), us(9)),
                    taken(2, 0, us(20), us(40), us(41))},
                   {{DeviceId{0}, 1, us(42), us(43)}}),
            Sentences{});
  // 'a' came during the look; or was taken during it.
  EXPECT_EQ(faults({taken(1, 0, us(0), us(5), us(9)), taken(0, 1, us(6), us(10), us(30))}, {}),
            Sentences{});
  EXPECT_EQ(faults({taken(1, 0, us(0), us(5), us(50)), taken(0, 1, us(0), us(10), us(11))}, {}),
            Sentences{});
}

TEST_F(TwoSlots, ALowerPriorityTakenFirstIsFoundWhateverTheClockSays) {
  EXPECT_EQ(faults({taken(1, 0, us(0), us(5), us(6)), taken(0, 1, us(0), us(8), us(9))}, {}),
            Sentences{"op 'b' was taken on 'cpu0' by a look from 5000 to 6000 ns, though 'a', "
                      "which goes before it, was in a queue from 0 to 9000 ns"});
}

TEST_F(TwoSlots, ASlotThatSleepsBesideAnOpIsFoundWhateverTheClockSays) {
  EXPECT_EQ(faults({taken(0, 0, us(0), us(8), us(9))}, {{DeviceId{0}, 1, us(5), us(6)}}),
            Sentences{"slot 1 of 'cpu0' went to sleep by a look from 5000 to 6000 ns, though op "
                      "'a' was in a queue from 0 to 9000 ns"});
}

TEST_F(TwoSlots, ASlotThatDoesNotLookAtOthersForLongIsFound) {
  EXPECT_EQ(faults({taken(0, 0, us(0), us(0), us(9), /*looked=*/false)}, {}), Sentences{});
  EXPECT_EQ(faults({taken(0, 0, us(0), us(0), us(30), /*looked=*/false)}, {}),
            Sentences{"op 'a' was taken on 'cpu0' at 30000 ns without a look at other slots since "
                      "0 ns"});
}

// Its second slot comes to work when nothing is left to do.
class LazyHardware : public CpuHardware {
 public:
  LazyHardware(const Machine& machine, std::atomic<int>& left)
      : CpuHardware(machine, cores_of_this_process()), left_(left) {}
  std::unique_ptr<SlotRunner> slot(DeviceId device, int index) override {
    if (index == 0) return CpuHardware::slot(device, index);
    return std::make_unique<Lazy>(left_, CpuHardware::slot(device, index));
  }

 private:
  class Lazy : public SlotRunner {
   public:
    Lazy(std::atomic<int>& left, std::unique_ptr<SlotRunner> real)
        : left_(left), real_(std::move(real)) {}
    Result<void> enter() override {
      for (int left; (left = left_.load()) > 0;) left_.wait(left);
      return real_->enter();
    }
    Result<void> run(const OpTable::Entry& entry, OpCall& call) override {
      return real_->run(entry, call);
    }

   private:
    std::atomic<int>& left_;
    std::unique_ptr<SlotRunner> real_;
  };
  std::atomic<int>& left_;
};

// How long an op may wait beside an idle slot: of a slot that is lazy by intent, and of the random
// graphs. These are judged by the decider's steps, which need no clock; by the clock only what
// no busy host explains, whose threads may not run for many milliseconds again and again.
constexpr Duration kPatience = std::chrono::milliseconds(5);
constexpr Duration kBusyHost = std::chrono::seconds(1);
constexpr int kTries = 5;

TEST_F(TwoSlots, ALazySlotOfARealRunIsFoundEachTime) {
  for (int i = 0; i < kTries; ++i) {
    std::atomic<int> left{3};
    OpTable table;
    table.add("k", "cpu", [&](const OpCall&) -> Result<void> {
      const auto until = std::chrono::steady_clock::now() + kPatience + us(100);
      while (std::chrono::steady_clock::now() < until) {
      }
      left.fetch_sub(1);
      left.notify_all();
      return {};
    });
    const auto runtime = must(LocalRuntime::open(
        world_.machine, std::move(table), std::make_unique<LazyHardware>(world_.machine, left)));
    must(runtime->run(*world_.problem, plan_));
    const EventRules rules{.plan = &plan_, .patience = kPatience};
    // Two at least: the first slot may be late too.
    EXPECT_GE(events_faults(*world_.problem, runtime->events(), rules).size(), 2U);
  }
}

TEST_F(TwoOps, AnOpThatGoesFirstOutOfTurnIsFound) {
  EXPECT_EQ(faults(us(0), us(104), us(4)),
            Sentences{"op 'b' started on 'cpu0' at 4000 ns, though 'a', which goes before it, was "
                      "ready at 0 ns and started at 104000 ns"});
}

TEST_F(TwoOps, DelaysCountFromReadyOpAndFreeSlot) {
  const std::vector<OpEvents> events = {{OpId{0}, DeviceId{0}, 0, us(1), us(3), us(50)},
                                        {OpId{1}, DeviceId{0}, 0, us(20), us(51), us(60)}};
  EXPECT_EQ(dispatch_delays(*world_.problem, events), (std::vector<Duration>{us(1), us(2)}));
}

// Random graphs with random plans, or random online policies, on devices of one slot and of
// several, with memories of their own and tight ones.
struct JudgedRuns {
  bool limits;
  bool online;
  int ended = 0;
  int sleeps = 0;
  std::vector<Duration> delays{};

  // Runs a graph and says what breaks the rules of time.
  Sentences judge(int i) {
    Rng rng = Rng(23).split(static_cast<uint64_t>(i));
    const World world = testing::random_world({.limits = limits, .device_kind = "cpu"}, rng);
    const Plan plan = testing::random_plan(*world.problem, rng);
    Policy policy = testing::random_policy(rng, /*pauses=*/i % 2 == 0);
    const auto runtime =
        testing::open_local(world.machine, testing::table_of(world.graph, busy_code(world.graph)));
    runtime->set_options({.steps = true});
    const Result<Trace> trace =
        online ? runtime->run_online(*world.problem, policy) : runtime->run(*world.problem, plan);
    if (!trace) return {};
    ++ended;
    EXPECT_EQ(check_trace(*world.problem, *trace, rules_for(*trace, online ? nullptr : &plan)),
              Sentences());
    testing::expect_digests(world.graph, *runtime);
    const std::vector<OpEvents> events = runtime->events();
    EXPECT_EQ(events.size(), static_cast<size_t>(world.graph.size()));
    const std::vector<SleepEvent> slept = runtime->sleeps();
    sleeps += static_cast<int>(slept.size());
    const EventRules rules{.plan = online ? nullptr : &plan, .patience = kBusyHost};
    EXPECT_EQ(step_faults(*world.problem, events, slept, rules), Sentences());
    const std::vector<Duration> some = dispatch_delays(*world.problem, events);
    delays.insert(delays.end(), some.begin(), some.end());
    return events_faults(*world.problem, events, rules);
  }
};

int judge_runs(bool limits, bool online) {
  JudgedRuns runs{.limits = limits, .online = online};
  int ended = 0;
  int repeats = 0;
  for (int i = 0; i < 120; ++i) {
    SCOPED_TRACE("run " + std::to_string(i));
    const int before = runs.ended;
    Sentences faults = runs.judge(i);
    for (int tries = 1; tries < kTries && !faults.empty(); ++tries, ++repeats) {
      faults = runs.judge(i);
    }
    EXPECT_EQ(faults, Sentences());
    ended += runs.ended > before;
  }
  EXPECT_GT(runs.sleeps, ended);
  std::vector<Duration>& delays = runs.delays;
  std::sort(delays.begin(), delays.end());
  if (delays.empty()) return ended;
  EXPECT_LT(delays[delays.size() / 2], std::chrono::milliseconds(2));  // of half of them
  const auto quantile = [&](double share) {
    return to_text(delays[static_cast<size_t>(share * static_cast<double>(delays.size() - 1))]);
  };
  std::printf("dispatch delays of %zu ops: median %s, 90 %% %s, 99 %% %s, most %s\n", delays.size(),
              quantile(0.5).c_str(), quantile(0.9).c_str(), quantile(0.99).c_str(),
              quantile(1).c_str());
  std::printf("%d sleeps judged, %d runs repeated\n", runs.sleeps, repeats);
  return ended;
}

TEST(LocalEvents, OfRandomPlansConserveWorkAndKeepPriorities) {
  EXPECT_EQ(judge_runs(/*limits=*/false, /*online=*/false), 120);
}

TEST(LocalEvents, OfRandomPlansInLimitedMemoryConserveWork) {
  EXPECT_GT(judge_runs(/*limits=*/true, /*online=*/false), 10);
}

TEST(LocalEvents, OfOnlinePoliciesConserveWork) {
  EXPECT_GT(judge_runs(/*limits=*/false, /*online=*/true), 60);
  EXPECT_GT(judge_runs(/*limits=*/true, /*online=*/true), 10);
}

class Never : public Select {
 public:
  std::optional<OpId> select(const State&) override { return std::nullopt; }
};

TEST(LocalOnline, WaitingForeverIsAnErrorNotAHang) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":5}])"),
                    testing::cpus(1, 1));
  Rng rng(1);
  Policy policy{std::make_unique<Never>(), std::make_unique<testing::RandomPlace>(rng)};
  const auto runtime =
      testing::open_local(world.machine, testing::table_of(world.graph, busy_code(world.graph)));
  const Result<Trace> trace = runtime->run_online(*world.problem, policy);
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("chose to wait"), std::string::npos)
      << trace.error().message;
}

// The kit that every runtime passes, with values a thousand times smaller.
TEST(LocalConformance, PlansAndOnlinePoliciesRunAsTheRulesSay) {
  for (const auto& c : conformance_cases({.device_kind = "cpu", .unit_bytes = 1 << 10})) {
    const auto runtime = testing::open_local(
        c.problem.machine,
        testing::table_of(c.problem.graph, testing::digest_code(c.problem.graph)));
    Rng rng(3);
    Policy policy = testing::random_policy(rng, /*pauses=*/false);
    const Result<Trace> online = runtime->run_online(c.problem, policy);
    if (c.tight_memory && !online) continue;
    ASSERT_TRUE(online) << c.name << ": " << online.error().message;
    EXPECT_EQ(check_trace(c.problem, *online, rules_for(*online, nullptr)), Sentences()) << c.name;
    testing::expect_digests(c.problem.graph, *runtime);
    // What the policy did is a plan that obeys the problem.
    Plan plan = testing::in_turn(c.problem);
    for (const OpSpan& span : online->ops) {
      plan.placement[static_cast<size_t>(span.op.index)] = span.device;
      plan.priority[static_cast<size_t>(span.op.index)] = span.start.count();
    }
    EXPECT_EQ(conformance_faults(*runtime, c.problem, plan, /*repeatable=*/false), Sentences())
        << c.name;
    testing::expect_digests(c.problem.graph, *runtime);
  }
}

}  // namespace
}  // namespace tutti
