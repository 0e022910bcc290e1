// The ledger against what is worked out from a trace alone: the run's events, told to a ledger in
// the order of time, must leave what the judge of memory says was left.

#include "tutti/runtime/sim/ledger.h"

#include <gtest/gtest.h>

#include <map>

#include "tutti/runtime/sim/sim.h"
#include "tutti/runtime/sim/testing.h"
#include "tutti/trace/memory.h"

namespace tutti {
namespace {

// What happens at one time, in the order in which it happens there.
struct Instant {
  std::vector<OpId> finished;
  std::vector<ValueId> arrived;
  std::vector<OpId> placed;
  std::vector<std::pair<ValueId, MemoryId>> set_out;
  std::vector<OpId> started;
};

std::map<Duration, Instant> instants_of(const Problem& problem, const Trace& trace) {
  std::map<Duration, Instant> instants;
  for (const OpSpan& span : trace.ops) {
    instants[span.start].started.push_back(span.op);
    instants[span.finish].finished.push_back(span.op);
    if (trace.placed.empty()) instants[Duration(0)].placed.push_back(span.op);
  }
  for (const PlacedAt& placed : trace.placed) instants[placed.time].placed.push_back(placed.op);
  for (const TransferSpan& span : trace.transfers) {
    const auto hops = static_cast<int>(problem.machine.route(span.from, span.to)->hops.size());
    if (span.hop == 0) instants[span.start].set_out.emplace_back(span.value, span.to);
    if (span.hop == hops - 1) instants[span.finish].arrived.push_back(span.value);
  }
  return instants;
}

int64_t use_at(const MemoryUse& use, Duration time) {
  const auto after = std::upper_bound(use.time.begin(), use.time.end(), time);
  return use.bytes[static_cast<size_t>(after - use.time.begin()) - 1];
}

void compare(const Problem& problem, const Trace& trace) {
  const Presence presence(problem, trace, {});
  const std::vector<ChannelUse> channels = channel_use(problem, trace);
  FullTimes full_times(problem.machine, channels);
  // No link makes anyone wait here, so that room is taken just when a transfer sets out.
  const std::vector<MemoryUse> uses = most_memory_use(problem, trace, presence, full_times);
  const auto memory_of = [&](OpId op) {
    return problem.machine.memory_of(presence.span(op)->device);
  };
  Ledger ledger(problem);
  ledger.reset();
  for (const auto& [time, instant] : instants_of(problem, trace)) {
    for (const OpId op : instant.finished) ledger.finish(op, memory_of(op));
    for (const ValueId value : instant.arrived) ledger.finish_copy(value);
    for (const OpId op : instant.placed) ledger.place(op, memory_of(op));
    for (const auto& [value, memory] : instant.set_out) {
      EXPECT_TRUE(ledger.fits_copy(value, memory));
      ledger.start_copy(value, memory);
    }
    for (const OpId op : instant.started) {
      EXPECT_TRUE(ledger.fits(op, memory_of(op)));
      ledger.start(op, memory_of(op));
    }
    for (int32_t i = 0; i < problem.machine.memory_count(); ++i) {
      const int64_t limit = problem.memory_limit(MemoryId{i});
      if (limit == kUnlimitedBytes) continue;
      ASSERT_EQ(limit - ledger.left(MemoryId{i}), use_at(uses[static_cast<size_t>(i)], time))
          << problem.machine.memory(MemoryId{i}).name << " at " << time.count();
    }
  }
}

// Nothing takes no time, so that the order of what happens at one time is known.
constexpr testing::RandomWorld kWorld{
    .least_run_time = 1, .least_bytes = 4, .limits = true, .noise = false, .contention = false};

TEST(Ledger, HoldsWhatTheTracesOfPlansSayWasHeld) {
  int ended = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Rng rng = Rng(23).split(seed);
    const World world = testing::random_world(kWorld, rng);
    if (!world.problem->has_memory_limits()) continue;
    const Plan plan = testing::random_plan(*world.problem, rng);
    const Result<Trace> trace = SimRuntime().run(*world.problem, plan);
    if (!trace) continue;
    ++ended;
    compare(*world.problem, *trace);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
  EXPECT_GT(ended, 100);
}

TEST(Ledger, HoldsWhatTheTracesOfOnlineRunsSayWasHeld) {
  int ended = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Rng rng = Rng(29).split(seed);
    const World world = testing::random_world(kWorld, rng);
    if (!world.problem->has_memory_limits()) continue;
    Policy policy = testing::random_policy(rng, /*pauses=*/false);
    const Result<Trace> trace = SimRuntime().run_online(*world.problem, policy);
    if (!trace) continue;
    ++ended;
    compare(*world.problem, *trace);
    ASSERT_FALSE(HasFatalFailure()) << "seed " << seed;
  }
  EXPECT_GT(ended, 100);
}

}  // namespace
}  // namespace tutti
