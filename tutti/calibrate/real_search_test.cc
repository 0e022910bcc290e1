#include "tutti/calibrate/real_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>

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

  // Sixty runs, after each round of which `kept` is where it stands.
  static RealSearchSettings keeping(std::optional<RealSearchState>& kept) {
    RealSearchSettings settings{.runs = 60};
    settings.on_round = [&kept](const RealRound&, const RealSearchState& state) -> Result<void> {
      kept = state;
      return {};
    };
    return settings;
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

// Proposes as a search does, and would by itself give another plan.
class ProposerOfItsOwn : public SearchProposer {
 public:
  explicit ProposerOfItsOwn(Plan own) : SearchProposer(200), own_(std::move(own)) {}
  std::optional<Plan> own_plan(const Problem&) override { return own_; }

 private:
  Plan own_;
};

TEST_F(RealSearch, MeasuresTheProposersOwnPlanInTheLastRace) {
  ProposerOfItsOwn proposer(heft_);
  std::vector<RealRound> rounds;
  RealSearchSettings settings{.runs = 120, .margin = 100};
  settings.on_round = [&](const RealRound& round, const RealSearchState&) -> Result<void> {
    rounds.push_back(round);
    return {};
  };
  const auto found = search_for_real(believed_.graph, believed_.machine, {}, knowledge_, machine_,
                                     proposer, {&heft_, 1}, settings);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->own && found->own->mean_ns);
  // heft_ believes that all devices are equal.
  EXPECT_GT(*found->own->mean_ns, 1.1 * found->mean_ns);
  EXPECT_GT(found->own->predicted, 1.1);
  ASSERT_TRUE(rounds.back().own);
  EXPECT_EQ(rounds.back().own->mean_ns, found->own->mean_ns);
  EXPECT_FALSE(rounds.front().own);
  EXPECT_LE(machine_.runs(), 120);
}

TEST_F(RealSearch, DoesNotRunAnOwnPlanThatIsPredictedToBeSlow) {
  Plan slow = heft_;
  std::fill(slow.placement.begin(), slow.placement.end(), DeviceId{3});
  ProposerOfItsOwn proposer(slow);
  const auto found = search_for_real(believed_.graph, believed_.machine, {}, knowledge_, machine_,
                                     proposer, {&heft_, 1}, {.runs = 120});
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->own);
  EXPECT_FALSE(found->own->mean_ns);
  EXPECT_GT(found->own->predicted, 1.5);
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
  RealSearchSettings settings = keeping(kept);
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
  RealSearchSettings settings = keeping(kept);
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
  RealSearchSettings settings = keeping(kept);
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

// Proposes the same plan in each round.
class Stubborn : public Proposer {
 public:
  explicit Stubborn(Plan plan) : plan_(std::move(plan)) {}
  std::vector<Plan> propose(const Problem&, const Plan&, int, Rng) override { return {plan_}; }
  void learn(const Problem&, std::span<const Plan>, std::span<const double>) override {}

 private:
  Plan plan_;
};

// Sees each plan before it is run, and may refuse.
class Gate : public Runtime {
 public:
  using Look = std::function<Result<void>(const Plan& plan)>;
  Gate(Runtime& behind, Look look) : behind_(behind), look_(std::move(look)) {}
  Result<Trace> run(const Problem& problem, const Plan& plan) override {
    if (const Result<void> good = look_(plan); !good) return good.error();
    return behind_.run(problem, plan);
  }
  Result<Trace> run_online(const Problem& problem, Policy& policy) override {
    return behind_.run_online(problem, policy);
  }

 private:
  Runtime& behind_;
  Look look_;
};

class GatedRealSearch : public RealSearch {
 protected:
  GatedRealSearch() : slow_(heft_) {
    std::fill(slow_.placement.begin(), slow_.placement.end(), DeviceId{3});
  }
  Result<RealSearchResult> search_gated(Proposer& proposer, const std::vector<Plan>& start,
                                        const RealSearchSettings& settings, Gate::Look look) {
    Gate gate(machine_, std::move(look));
    return search_for_real(believed_.graph, believed_.machine, {}, knowledge_, gate, proposer,
                           start, settings);
  }

  Plan slow_;  // everything on one device
};

TEST_F(GatedRealSearch, NeverTriesAPlanThatIsPredictedBeyondTheMargin) {
  for (const double margin : {0.1, 100.0}) {
    Stubborn stubborn(slow_);
    int slow_runs = 0;
    int refused = 0;
    RealSearchSettings settings{.runs = 40, .margin = margin};
    settings.on_round = [&](const RealRound& round, const RealSearchState&) -> Result<void> {
      refused += round.refused;
      return {};
    };
    ASSERT_TRUE(search_gated(stubborn, {heft_}, settings, [&](const Plan& plan) -> Result<void> {
      slow_runs += plan.placement == slow_.placement;
      return {};
    }));
    EXPECT_EQ(slow_runs == 0, margin < 1) << slow_runs;
    EXPECT_EQ(refused > 0, margin < 1) << refused;
  }
}

TEST_F(GatedRealSearch, ThatLosesItsDevicesAfterSomeRoundsSaysSo) {
  SearchProposer proposer(200);
  int rounds = 0;
  RealSearchSettings settings{.runs = 120};
  settings.on_round = [&](const RealRound&, const RealSearchState&) -> Result<void> {
    ++rounds;
    return {};
  };
  const auto found = search_gated(proposer, {heft_}, settings, [&](const Plan&) -> Result<void> {
    if (rounds > 0) return failed("the device is lost");
    return {};
  });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "the device is lost");
  EXPECT_EQ(rounds, 1);
}

TEST_F(GatedRealSearch, ThatIsStoppedInALaterRoundKeepsWhatItFound) {
  SearchProposer proposer(200);
  std::atomic<bool> raised{false};
  int rounds = 0;
  RealSearchSettings settings{.runs = 120, .stop = Stop(&raised)};
  settings.on_round = [&](const RealRound&, const RealSearchState&) -> Result<void> {
    ++rounds;
    return {};
  };
  const auto found = search_gated(proposer, {heft_}, settings, [&](const Plan&) -> Result<void> {
    if (rounds == 0) return {};
    raised = true;
    return failed("cancelled");
  });
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->rounds, 1);
}

TEST_F(GatedRealSearch, FailsIfThePlanThatItStartsFromCannotBeRun) {
  Plan other = heft_;
  std::reverse(other.placement.begin(), other.placement.end());
  Idle idle;
  const RealSearchSettings settings{.runs = 40, .margin = 100};
  const auto found =
      search_gated(idle, {heft_, other}, settings, [&](const Plan& plan) -> Result<void> {
        if (plan.placement == heft_.placement) return failed("it does not fit");
        return {};
      });
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "the plan that the search starts from cannot be run: it does not fit");
  EXPECT_GT(machine_.runs(), 0);
}

TEST_F(GatedRealSearch, WithOneRunMeasuresThePlanThatItStartsFrom) {
  Stubborn stubborn(slow_);
  const auto found = search_gated(stubborn, {heft_}, {.runs = 1, .margin = 100},
                                  [](const Plan&) -> Result<void> { return {}; });
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->plan.placement, heft_.placement);
  EXPECT_EQ(found->runs, 1);
}

TEST_F(RealSearch, TellsTheMeanOfThePlanThatItStartedFromInItsLastRace) {
  std::vector<double> means;
  RealSearchSettings settings{.runs = 120};
  settings.on_round = [&](const RealRound& round, const RealSearchState& state) -> Result<void> {
    EXPECT_EQ(round.start_ns, state.start_ns);
    means.push_back(round.start_ns);
    return {};
  };
  ASSERT_TRUE(search(settings));
  ASSERT_GE(means.size(), 2u);
  EXPECT_NE(means.back(), means.front());  // the machine is noisy
  EXPECT_NEAR(means.back(), means.front(), 0.2 * means.front());
}

}  // namespace
}  // namespace tutti
