// Whatever goes wrong in a run: it stops, says what it was, gives everything back, and the next run
// is fine.

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tutti/base/random.h"
#include "tutti/graph/make/layered.h"
#include "tutti/runtime/local/testing.h"

namespace tutti {
namespace {

using testing::Trouble;
using testing::TroubledHardware;

// So many runs must really have failed, of each kind of trouble.
constexpr int kTimes = 1000;
// Trouble that comes too late for its run does not count; more of that than this is no test.
constexpr int kMostTries = 20 * kTimes;

int64_t threads_of_this_process() {
  int64_t count = 0;
  for ([[maybe_unused]] const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

class Faults : public ::testing::TestWithParam<bool> {
 protected:
  Faults()
      : world_(must(make_layered({.ops = 40, .width = 6, .operands = 2, .bytes = 200})),
               GetParam() ? testing::islands(2, 2) : testing::cpus(2, 2)),
        plan_(testing::in_turn(*world_.problem)),
        runtime_(must(
            LocalRuntime::open(world_.machine, testing::table_of(world_.graph, code()),
                               std::make_unique<TroubledHardware>(world_.machine, trouble_)))) {}
  ~Faults() override {
    runtime_.reset();
    EXPECT_EQ(trouble_.blocks, 0) << "blocks that were not given back";
    EXPECT_EQ(trouble_.strange, 0) << "blocks that were given back to another memory";
  }

  OpCode code() {
    return [this, real = testing::digest_code(world_.graph)](const OpCall& call) -> Result<void> {
      if (kernels_left_.fetch_sub(1) == 0) return failed("the kernel had enough");
      return real(call);
    };
  }

  void expect_good_run() {
    trouble_.mend();
    kernels_left_ = 1LL << 60;
    flag_ = false;
    ops_left_ = 1LL << 60;
    const Result<Trace> trace = runtime_->run(*world_.problem, plan_);
    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->ops.size(), 40u);
    testing::expect_digests(world_.graph, *runtime_);
  }

  // Fails kTimes, with a sentence that says this, and keeps what had happened. The run after every
  // tenth failure is verified, as is the last; blocks and threads do not become more.
  void expect_failures(const std::function<void(int64_t at)>& break_it, int64_t most,
                       const std::string& sentence) {
    expect_good_run();
    const int64_t threads = threads_of_this_process();
    Rng rng(5);
    int failures = 0;
    for (int tries = 0; failures < kTimes; ++tries) {
      ASSERT_LT(tries, kMostTries) << failures << " runs failed";
      trouble_.mend();
      kernels_left_ = 1LL << 60;
      break_it(static_cast<int64_t>(rng.below(static_cast<uint64_t>(most))));
      const Result<Trace> trace = runtime_->run(*world_.problem, plan_);
      if (trace) continue;
      ++failures;
      ASSERT_NE(trace.error().message.find(sentence), std::string::npos) << trace.error().message;
      ASSERT_LT(runtime_->partial_trace().ops.size(), 40u);
      ASSERT_FALSE(runtime_->result(ValueId{world_.graph.value_count() - 1}));
      if (failures % 10 == 0) expect_good_run();
    }
    EXPECT_EQ(failures, kTimes);
    expect_good_run();
    EXPECT_LE(threads_of_this_process(), threads);
    // Pools keep what runs had in use at once: at most every value in every memory, and one block
    // more for each on its way. A block lost in each failure would be more.
    const int64_t most_blocks =
        int64_t{world_.graph.value_count()} * (world_.machine.memory_count() + 1);
    ASSERT_LT(most_blocks, kTimes);
    EXPECT_LE(trouble_.blocks, most_blocks);
  }

  Trouble trouble_;
  std::atomic<int64_t> kernels_left_{1LL << 60};
  std::atomic<bool> flag_{false};  // raised: the run is cancelled
  std::atomic<int64_t> ops_left_{1LL << 60};
  World world_;
  Plan plan_;
  std::unique_ptr<LocalRuntime> runtime_;
};

INSTANTIATE_TEST_SUITE_P(All, Faults, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "islands" : "shared"; });

TEST_P(Faults, AKernelThatFailsEndsTheRunAndIsNamedWithItsDevice) {
  expect_failures([&](int64_t at) { kernels_left_ = at; }, 40, "the kernel had enough");
  kernels_left_ = 0;
  const Result<Trace> trace = runtime_->run(*world_.problem, plan_);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().kind, Error::Kind::failed);
  EXPECT_EQ(trace.error().message.find("op 'op"), 0u) << trace.error().message;
  EXPECT_NE(trace.error().message.find("' on device 'cpu"), std::string::npos);
}

TEST_P(Faults, MemoryThatRunsOutEndsTheRunAndIsNamed) {
  // Pools keep blocks, so that later runs need few: a runtime for each time.
  Rng rng(6);
  int failures = 0;
  for (int tries = 0; failures < kTimes; ++tries) {
    ASSERT_LT(tries, kMostTries) << failures << " runs failed";
    Trouble trouble;
    trouble.allocations_left = static_cast<int64_t>(rng.below(12));
    auto runtime = must(LocalRuntime::open(
        world_.machine, testing::table_of(world_.graph, testing::digest_code(world_.graph)),
        std::make_unique<TroubledHardware>(world_.machine, trouble)));
    const Result<Trace> trace = runtime->run(*world_.problem, plan_);
    if (trace) continue;
    ++failures;
    ASSERT_EQ(trace.error().kind, Error::Kind::infeasible);
    ASSERT_NE(trace.error().message.find("bytes in memory '"), std::string::npos)
        << trace.error().message;
    trouble.mend();
    const Result<Trace> again = runtime->run(*world_.problem, plan_);
    ASSERT_TRUE(again) << again.error().message;
    testing::expect_digests(world_.graph, *runtime);
    runtime.reset();
    ASSERT_EQ(trouble.blocks, 0);
  }
  EXPECT_EQ(failures, kTimes);
}

TEST_P(Faults, ADeviceThatIsLostEndsTheRun) {
  expect_failures([&](int64_t at) { trouble_.runs_left = at; }, 40, "the device is lost");
}

TEST_P(Faults, ALinkThatFailsEndsTheRun) {
  if (!GetParam()) GTEST_SKIP() << "values do not travel";
  expect_failures([&](int64_t at) { trouble_.copies_left = at; }, 40, "the link is down");
}

TEST_P(Faults, ADeviceThatCannotBeEnteredIsNamed) {
  trouble_.closed = true;
  const Result<Trace> trace = runtime_->run(*world_.problem, plan_);
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("cannot be used: it is closed"), std::string::npos);
  expect_good_run();
}

TEST_P(Faults, ALinkThatCannotBeEnteredEndsTheRunAndIsTriedAgain) {
  if (!GetParam()) GTEST_SKIP() << "values do not travel";
  trouble_.shut = true;
  for (int i = 0; i < 2; ++i) {
    const Result<Trace> trace = runtime_->run(*world_.problem, plan_);
    ASSERT_FALSE(trace);
    EXPECT_NE(trace.error().message.find("the link is shut"), std::string::npos);
  }
  expect_good_run();
}

TEST_P(Faults, AnExceptionOfAUsersCodeEndsTheRun) {
  OpTable table = testing::table_of(
      world_.graph, [](const OpCall&) -> Result<void> { throw std::runtime_error("thrown"); });
  auto runtime = must(LocalRuntime::open(world_.machine, std::move(table)));
  const Result<Trace> trace = runtime->run(*world_.problem, plan_);
  ASSERT_FALSE(trace);
  EXPECT_NE(trace.error().message.find("its code threw: thrown"), std::string::npos);
}

TEST_P(Faults, CancellationDuringAnyOpEndsTheRun) {
  OpTable table = testing::table_of(
      world_.graph,
      [&, real = testing::digest_code(world_.graph)](const OpCall& call) -> Result<void> {
        const Result<void> done = real(call);
        if (ops_left_.fetch_sub(1) == 0) flag_ = true;
        return done;
      });
  runtime_ = must(LocalRuntime::open(world_.machine, std::move(table),
                                     std::make_unique<TroubledHardware>(world_.machine, trouble_)));
  runtime_->set_options({.stop = Stop(&flag_)});
  expect_failures(
      [&](int64_t at) {
        flag_ = false;
        ops_left_ = at;
      },
      40, "cancelled after ");
}

// By another thread, at moments that nobody chose; many come too late.
TEST_P(Faults, CancellationAtAnyMomentEndsTheRun) {
  std::atomic<bool> flag{false};
  std::atomic<int> round{0};
  std::atomic<bool> done{false};
  runtime_->set_options({.stop = Stop(&flag)});
  // Raises the flag of each round a little later than the last time, and begins anew.
  std::thread canceller([&] {
    for (int seen = 0; !done;) {
      round.wait(seen);
      seen = round.load();
      const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(seen * 97);
      while (std::chrono::steady_clock::now() < until) {
      }
      flag = true;
    }
  });
  int cancelled = 0;
  for (int i = 1; i <= kTimes; ++i) {
    flag = false;
    round = i;
    round.notify_all();
    const Result<Trace> trace = runtime_->run(*world_.problem, plan_);
    while (!flag) std::this_thread::yield();
    if (trace) continue;
    ++cancelled;
    EXPECT_EQ(trace.error().message.find("cancelled after "), 0u) << trace.error().message;
  }
  done = true;
  round = kTimes + 1;
  round.notify_all();
  canceller.join();
  std::printf("%d of %d runs were cancelled\n", cancelled, kTimes);
  EXPECT_GT(cancelled, kTimes / 20);
  runtime_->set_options({});
  expect_good_run();
}

}  // namespace
}  // namespace tutti
