#include "tutti/calibrate/real_search.h"

#include <gtest/gtest.h>

#include <atomic>

#include "test/support/world.h"
#include "tutti/calibrate/search_proposer.h"
#include "tutti/calibrate/testing.h"
#include "tutti/graph/make/layered.h"
#include "tutti/policy/registry.h"

namespace tutti {
namespace {

using testing::HiddenMachine;

// The believed machine has four equal devices; in truth two of them are three times slower, which
// nobody can know before something has run there.
class RealSearch : public ::testing::Test {
 protected:
  static Graph graph() { return must(make_layered({.ops = 64, .width = 8, .seed = 5})); }
  static Machine devices() {
    std::string text = R"({"schema_version":1,"name":"m","device":[)";
    for (int i = 0; i < 4; ++i) {
      text += (i > 0 ? "," : "") + std::string(R"({"name":"d)") + std::to_string(i) +
              R"(","kind":")" + (i < 2 ? "quick" : "slow") + R"(","flops_per_s":1e12})";
    }
    text += R"(],"link":[)";
    for (int i = 0; i < 4; ++i) {
      text += (i > 0 ? "," : "") + std::string(R"({"name":"l)") + std::to_string(i) +
              R"(","between":["host","d)" + std::to_string(i) +
              R"("],"bandwidth_bytes_per_s":10e9})";
    }
    return machine_from(text + "]}");
  }
  static CostSpec truth() {
    CostSpec spec;
    const Graph made = graph();
    for (const std::string& kind : made.op_kinds()) {
      spec.efficiencies.push_back({.kind = kind, .device_kind = "slow", .efficiency = 0.33});
    }
    spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.05};
    return spec;
  }

  RealSearch()
      : believed_(graph(), devices()),
        truth_(graph(), devices(), truth()),
        machine_(believed_.machine, {.costs = truth(), .speed = 1}),
        heft_(must(make_plan(**find_policy("heft"), *believed_.problem, {}, 1))) {}

  double true_makespan(const Plan& plan) const {
    return static_cast<double>(must(SimRuntime().run(*truth_.problem, plan)).makespan.count());
  }
  Result<RealSearchResult> search(const RealSearchSettings& settings,
                                  const std::optional<RealSearchState>& resume = {}) {
    SearchProposer proposer(200);
    return search_for_real(believed_.graph, believed_.machine, {}, knowledge_, machine_, proposer,
                           {&heft_, 1}, settings, resume);
  }

  World believed_;
  World truth_;
  HiddenMachine machine_;
  Plan heft_;
  Knowledge knowledge_;
};

TEST_F(RealSearch, LearnsWhichDevicesAreSlow) {
  const auto found = search({.runs = 120});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_LE(machine_.runs(), 120);
  EXPECT_EQ(found->runs, machine_.runs());
  EXPECT_LT(true_makespan(found->plan), 0.85 * true_makespan(heft_));
}

TEST_F(RealSearch, PredictsBetterAsItGoes) {
  std::vector<double> errors;
  RealSearchSettings settings{.runs = 120};
  settings.on_round = [&](const RealRound& round, const RealSearchState&) -> Result<void> {
    errors.push_back(round.error);
    return {};
  };
  ASSERT_TRUE(search(settings));
  ASSERT_GE(errors.size(), 3u);
  EXPECT_LT(errors.back(), 0.1);
  EXPECT_LT(errors.back(), errors.front() / 2);
}

TEST_F(RealSearch, EndsWithARaceOfThoseThatWereTheBest) {
  std::vector<RealRound> rounds;
  std::vector<size_t> past;
  RealSearchSettings settings{.runs = 120, .last_share = 0.5};
  settings.on_round = [&](const RealRound& round, const RealSearchState& state) -> Result<void> {
    rounds.push_back(round);
    past.push_back(state.past.size());
    return {};
  };
  ASSERT_TRUE(search(settings));
  ASSERT_GE(rounds.size(), 2u);
  EXPECT_EQ(rounds[rounds.size() - 2].runs, 60);
  ASSERT_GT(past[past.size() - 2], 0u);
  EXPECT_EQ(rounds.back().raced, static_cast<int>(past[past.size() - 2]) + 1);
  EXPECT_GE(past.back(), past[past.size() - 2]);
}

TEST_F(RealSearch, GoesOnWhereItWasStopped) {
  std::optional<RealSearchState> kept;
  RealSearchSettings settings{.runs = 60};
  settings.on_round = [&](const RealRound&, const RealSearchState& state) -> Result<void> {
    kept = state;
    return {};
  };
  ASSERT_TRUE(search(settings));
  const int64_t before = machine_.runs();
  settings.runs = 100;
  const auto found = search(settings, kept);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->runs, machine_.runs());
  EXPECT_EQ(found->new_runs, machine_.runs() - before);
  EXPECT_GT(machine_.runs(), before);
  EXPECT_LE(machine_.runs(), 100);
}

TEST_F(RealSearch, WithMoreRunsKeepsThePlanThatItStartedFrom) {
  std::optional<RealSearchState> kept;
  RealSearchSettings settings{.runs = 60};
  settings.on_round = [&](const RealRound&, const RealSearchState& state) -> Result<void> {
    kept = state;
    return {};
  };
  ASSERT_TRUE(search(settings));
  ASSERT_EQ(kept->complete_with, 60);
  ASSERT_FALSE(kept->past.empty());
  EXPECT_EQ(kept->past.back().placement, heft_.placement);
  settings.runs = 100;
  ASSERT_TRUE(search(settings, kept));
  EXPECT_EQ(kept->complete_with, 100);
  EXPECT_EQ(kept->past.back().placement, heft_.placement);
}

TEST_F(RealSearch, ThatIsCompleteOrHasNoTimeTellsWhatWasFound) {
  std::optional<RealSearchState> kept;
  RealSearchSettings settings{.runs = 60};
  settings.on_round = [&](const RealRound&, const RealSearchState& state) -> Result<void> {
    kept = state;
    return {};
  };
  const auto first = search(settings);
  ASSERT_TRUE(first);
  EXPECT_GT(first->mean_ns, 0);
  const int64_t before = machine_.runs();
  const auto again = search(settings, kept);
  ASSERT_TRUE(again);
  const std::atomic<bool> raised{true};
  settings.runs = 100;
  settings.stop = Stop(&raised);
  const auto stopped = search(settings, kept);
  ASSERT_TRUE(stopped);
  for (const auto* found : {&*again, &*stopped}) {
    EXPECT_EQ(found->mean_ns, first->mean_ns);
    EXPECT_EQ(found->plan.placement, first->plan.placement);
    EXPECT_EQ(found->new_runs, 0);
  }
  EXPECT_EQ(machine_.runs(), before);
  EXPECT_FALSE(search(settings));  // nothing was ever run
}

// Thinks of nothing.
class Idle : public Proposer {
 public:
  std::vector<Plan> propose(const Problem&, const Plan&, int, Rng) override { return {}; }
  void learn(const Problem&, std::span<const Plan>, std::span<const double>) override {}
};

TEST_F(RealSearch, SpendsNoRunsOnRacesOfOnePlan) {
  Idle idle;
  std::vector<int> raced;
  RealSearchSettings settings{.runs = 60};
  settings.on_round = [&](const RealRound& round, const RealSearchState&) -> Result<void> {
    raced.push_back(round.raced);
    return {};
  };
  const auto found = search_for_real(believed_.graph, believed_.machine, {}, knowledge_, machine_,
                                     idle, {&heft_, 1}, settings);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(machine_.runs(), 1);  // so that it is known what it takes
  EXPECT_EQ(raced, (std::vector<int>{1, 0, 0, 0}));
  EXPECT_GT(found->mean_ns, 0);
}

}  // namespace
}  // namespace tutti
