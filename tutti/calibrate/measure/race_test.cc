#include "tutti/calibrate/measure/race.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "test/support/world.h"
#include "tutti/calibrate/testing.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/registry.h"

namespace tutti {
namespace {

CostSpec noisy() {
  CostSpec spec;
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.1};
  return spec;
}

// A machine on which one plan breaks, and which counts its runs.
class Brittle : public Runtime {
 public:
  explicit Brittle(const Machine& sheet) : machine_(sheet, {.costs = noisy(), .speed = 1}) {}
  Result<Trace> run(const Problem& problem, const Plan& plan) override {
    ++runs;
    order.push_back(plan.provenance.seed);
    if (runs == stopped_in) {
      raised = true;
      return failed("cancelled");
    }
    if (refused != nullptr && plan.placement == refused->placement) return failed("it broke");
    return machine_.run(problem, plan);
  }
  Result<Trace> run_online(const Problem& problem, Policy& policy) override {
    return machine_.run_online(problem, policy);
  }

  int64_t runs = 0;
  std::vector<uint64_t> order;  // seeds of the plans that were run
  const Plan* refused = nullptr;
  int64_t stopped_in = 0;  // somebody wants an end while this run goes on
  std::atomic<bool> raised{false};

 private:
  testing::HiddenMachine machine_;
};

class Racing : public ::testing::Test {
 protected:
  Racing()
      : world_(must(make_layered({.ops = 36, .width = 6, .seed = 3})), must(make_preset("p100-4")),
               noisy()),
        machine_(world_.machine) {
    for (const char* name : {"single_device", "heft", "random"}) {
      plans_.push_back(must(make_plan(**find_policy(name), *world_.problem, {}, 1)));
    }
  }
  double true_makespan(const Plan& plan) const {
    return static_cast<double>(must(SimRuntime().run(*world_.problem, plan)).makespan.count());
  }

  World world_;
  Brittle machine_;
  std::vector<Plan> plans_;
};

TEST_F(Racing, TheFastestPlanWinsAndOthersDropOut) {
  const auto raced = race(machine_, *world_.problem, plans_, {.runs = 60, .most_each = 20});
  ASSERT_TRUE(raced) << raced.error().message;
  size_t best = 0;
  for (size_t i = 1; i < plans_.size(); ++i) {
    if (true_makespan(plans_[i]) < true_makespan(plans_[best])) best = i;
  }
  EXPECT_EQ(raced->best, best);
  EXPECT_EQ(raced->runs, machine_.runs);
  EXPECT_LT(raced->runs, 30);  // far from 60: nobody goes on when the order is certain
}

TEST_F(Racing, NeverTakesMoreRunsThanItMay) {
  const std::vector<Plan> equal(8, plans_[1]);
  const auto raced = race(machine_, *world_.problem, equal, {.runs = 19});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->runs, 19);
  EXPECT_EQ(machine_.runs, 19);
}

TEST_F(Racing, APlanThatFailsDropsOutWithItsSentence) {
  machine_.refused = &plans_[0];
  const auto raced = race(machine_, *world_.problem, plans_, {});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->plans[0].refusal, "it broke");
  EXPECT_TRUE(std::isinf(raced->plans[0].mean_ns()));
  EXPECT_NE(raced->best, 0u);
  const auto alone = race(machine_, *world_.problem, {plans_.data(), 1}, {});
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().message, "it broke");
}

TEST_F(Racing, APlanAloneRunsOnce) {
  const auto raced = race(machine_, *world_.problem, {plans_.data(), 1}, {.runs = 20});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->runs, 1);
  EXPECT_EQ(machine_.runs, 1);
  EXPECT_EQ(raced->best, 0u);
}

TEST_F(Racing, EachTurnHasAnOrderOfItsOwnThatTheSeedDraws) {
  std::vector<Plan> equal(4, plans_[1]);
  for (size_t i = 0; i < equal.size(); ++i) equal[i].provenance.seed = i;
  const auto orders = [&](uint64_t seed) {
    machine_.order.clear();
    EXPECT_TRUE(race(machine_, *world_.problem, equal,
                     {.runs = 24, .most_each = 6, .certain = 1e9, .seed = seed}));
    return machine_.order;
  };
  const std::vector<uint64_t> first = orders(1);
  ASSERT_EQ(first.size(), 24u);
  std::set<std::vector<uint64_t>> turns;
  for (auto turn = first.begin(); turn != first.end(); turn += 4) {
    turns.insert({turn, turn + 4});
    EXPECT_EQ(std::set<uint64_t>(turn, turn + 4).size(), 4u);  // each of them once
  }
  EXPECT_GT(turns.size(), 2u);
  EXPECT_EQ(orders(1), first);
  EXPECT_NE(orders(2), first);
}

TEST_F(Racing, StopsWhenItIsTold) {
  const std::atomic<bool> raised{true};
  const auto raced = race(machine_, *world_.problem, plans_, {.stop = Stop(&raised)});
  ASSERT_FALSE(raced);
  EXPECT_EQ(machine_.runs, 0);
}

TEST_F(Racing, ARunThatIsStoppedSaysNothingAboutItsPlan) {
  const std::vector<Plan> pair = {plans_[1], plans_[0]};
  machine_.stopped_in = 3;  // in the second turn
  const auto raced = race(machine_, *world_.problem, pair, {.stop = Stop(&machine_.raised)});
  ASSERT_TRUE(raced) << raced.error().message;
  EXPECT_EQ(raced->runs, 2);
  EXPECT_EQ(raced->plans[0].times_ns.size(), 1U);
  EXPECT_EQ(raced->best, true_makespan(pair[0]) < true_makespan(pair[1]) ? 0U : 1U);
  Brittle other(world_.machine);
  other.stopped_in = 1;
  EXPECT_FALSE(race(other, *world_.problem, {pair.data(), 1}, {.stop = Stop(&other.raised)}));
}

}  // namespace
}  // namespace tutti
