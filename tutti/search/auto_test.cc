#include "tutti/search/auto.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "test/support/world.h"
#include "tutti/graph/make/layered.h"
#include "tutti/plan/file.h"
#include "tutti/search/candidates.h"
#include "tutti/search/evaluate/scenario_simulator.h"

namespace tutti {
namespace {

Result<AutoResult> plan_of(const World& world, int threads = 1) {
  AutoSettings settings;
  settings.budget.evaluations = 2000;
  settings.seed = 3;
  settings.threads = threads;
  return plan_auto(*world.problem, settings);
}

TEST(Auto, IsNeverWorseThanAnythingItTried) {
  for (const char* machine : {"p100-4", "mixed-5", "cluster-2x4"}) {
    const World world(must(make_layered({.ops = 150, .width = 15, .bytes = 1 << 24})), machine);
    const AutoResult result = must(plan_of(world));
    for (const Tried& tried : result.tried) {
      EXPECT_LE(result.makespan, tried.makespan) << tried.policy;
    }
    EXPECT_EQ(must(ScenarioSimulator(*world.problem, SimModel::physical).makespan(result.plan, 0)),
              result.makespan);
  }
}

TEST(Auto, GivesTheMakespanAndNotTheAim) {
  // Without noise the worst quarter of the scenarios is the mean, and a weight changes nothing.
  const World world(must(make_layered({.ops = 60, .width = 6, .bytes = 1 << 24})), "p100-4");
  AutoSettings settings;
  settings.budget.evaluations = 500;
  const Duration plain = must(plan_auto(*world.problem, settings)).makespan;
  settings.model.scenarios.tail_weight = 3;
  const AutoResult weighed = must(plan_auto(*world.problem, settings));
  EXPECT_EQ(weighed.makespan, plain);
  EXPECT_EQ(must(ScenarioSimulator(*world.problem, SimModel::physical).makespan(weighed.plan, 0)),
            plain);
}

TEST(Auto, StaysOnOneDeviceWhereTransfersCostMoreThanTheyBring) {
  // Values of 1 GiB over a slow link between ops of 1 ms.
  const World world(must(make_layered({.ops = 40, .width = 4, .bytes = 1 << 30, .flops = 1e9})),
                    machine_from(R"({"schema_version":1,"name":"m","device":[
        {"name":"a","kind":"d","flops_per_s":1e12},{"name":"b","kind":"d","flops_per_s":1e12}],
        "link":[{"name":"l","between":["a","b"],"bandwidth_bytes_per_s":1e8}]})"));
  const AutoResult result = must(plan_of(world));
  EXPECT_EQ(result.plan.provenance.policy, "auto:single_device");
}

TEST(Auto, GivesTheSamePlanWithAnyNumberOfThreads) {
  const World world(must(make_layered({.ops = 200, .width = 20})), "v100-8-nvlink");
  const AutoResult one = must(plan_of(world, 1));
  const AutoResult four = must(plan_of(world, 4));
  EXPECT_EQ(plan_to_json(one.plan, *world.problem), plan_to_json(four.plan, *world.problem));
}

TEST(Auto, AsksWhatBringsMostForItsTimeFirst) {
  std::vector<std::string> order;
  for (const PolicyEntry& entry : policies_to_ask()) order.push_back(entry.name);
  const auto turn = [&](const char* name) {
    return std::find(order.begin(), order.end(), name) - order.begin();
  };
  EXPECT_EQ(order.front(), "single_device");
  for (const char* strong : {"contention_eft", "heft", "locality", "expert", "components"}) {
    for (const char* weak :
         {"random", "round_robin", "best_subset", "m_sct", "enumerative", "doppler"}) {
      EXPECT_LT(turn(strong), turn(weak)) << strong << ", " << weak;
    }
  }
  EXPECT_LT(turn("random"), turn("doppler"));
  // Everyone has a turn.
  size_t asked = 0;
  for (const PolicyEntry& entry : planning_policies()) asked += entry.for_comparison ? 0 : 1;
  EXPECT_EQ(order.size(), asked);
}

TEST(Auto, TellsWhatItTriedInTheOrderOfTheRegistry) {
  const World world(must(make_layered({.ops = 20, .width = 4})), "uniform-2");
  const AutoResult result = must(plan_of(world));
  size_t next = 0;
  for (const PolicyEntry& entry : planning_policies()) {
    if (entry.for_comparison) continue;
    ASSERT_LT(next, result.tried.size());
    EXPECT_TRUE(result.tried[next].policy.starts_with(entry.name)) << entry.name;
    ++next;
  }
}

TEST(Auto, KeepsToAWallClock) {
  const World world(must(make_layered({.ops = 300, .width = 20})), "p100-4");
  AutoSettings settings;
  settings.budget.wall_clock = std::chrono::milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(plan_auto(*world.problem, settings));
  // Far more than a busy machine needs, far less than a search that does not look at the clock.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Auto, ReturnsTheBestSoFarWhenInterrupted) {
  const World world(must(make_layered({.ops = 100, .width = 10})), "p100-4");
  const std::atomic<bool> interrupted{true};
  AutoSettings settings;
  settings.budget.stop = Stop(&interrupted);
  const AutoResult result = must(plan_auto(*world.problem, settings));
  EXPECT_EQ(result.plan.placement.size(), 100u);
}

TEST(Auto, GoesOnFromTheStateOfAnEarlierRun) {
  const World world(must(make_layered({.ops = 80, .width = 8, .bytes = 1 << 24})), "p100-4");
  AutoSettings settings;
  settings.budget.evaluations = 3000;
  std::optional<IslandsState> middle;
  settings.on_round = [&](const IslandsState& state) {
    if (state.rounds == 10) middle = state;
  };
  const AutoResult whole = must(plan_auto(*world.problem, settings));
  ASSERT_TRUE(middle);
  settings.on_round = {};
  settings.resume = middle;
  const AutoResult resumed = must(plan_auto(*world.problem, settings));
  EXPECT_EQ(plan_to_json(whole.plan, *world.problem), plan_to_json(resumed.plan, *world.problem));
}

// Values of 64 MiB take 23 ms between the hosts and 6 ms within one; an op takes 1 ms.
World far_hosts() {
  return World(must(make_layered({.ops = 96, .width = 8, .bytes = 64 << 20, .flops = 1e10})),
               "cluster-2x4");
}

TEST(Auto, IsNoWorseThanTheSameSearchOnOneHost) {
  const World world = far_hosts();
  std::vector<DeviceId> host;
  for (int32_t i = 0; i < 4; ++i) host.push_back(DeviceId{i});
  const Problem one = world.problem->within(host);
  AutoSettings settings;
  settings.budget.evaluations = 8000;
  const Duration all = must(plan_auto(*world.problem, settings)).makespan;
  const Duration within = must(plan_auto(one, settings)).makespan;
  EXPECT_LE(static_cast<double>(all.count()), 1.05 * static_cast<double>(within.count()));
}

TEST(Auto, GoesOnWithWalksInPartsOfTheMachineOnAnyNumberOfThreads) {
  const World world = far_hosts();
  AutoSettings settings;
  settings.budget.evaluations = 4000;
  std::optional<IslandsState> early;
  settings.on_round = [&](const IslandsState& state) {
    if (state.rounds == 2) early = state;
  };
  const AutoResult whole = must(plan_auto(*world.problem, settings));
  ASSERT_TRUE(early);
  EXPECT_GT(early->walks.size(), static_cast<size_t>(kIslands));
  EXPECT_TRUE(early->walks[0].within.empty());
  EXPECT_FALSE(early->walks.back().within.empty());
  settings.on_round = {};
  settings.resume = early;
  settings.threads = 3;
  const AutoResult resumed = must(plan_auto(*world.problem, settings));
  EXPECT_EQ(plan_to_json(whole.plan, *world.problem), plan_to_json(resumed.plan, *world.problem));
}

TEST(Auto, GoesOnWithFewerWalksThanAnEarlierRunHad) {
  const World world = far_hosts();
  AutoSettings settings;
  settings.budget.evaluations = 3000;
  std::optional<IslandsState> early;
  IslandsState last;
  settings.on_round = [&](const IslandsState& now) {
    if (now.rounds == 1 && !early) early = now;
    last = now;
  };
  must(plan_auto(*world.problem, settings));
  ASSERT_TRUE(early);
  while (early->walks.size() < 11) early->walks.push_back(early->walks[0]);
  // The first state is that of more threads; the second says that all walks are in a part.
  for (const bool in_part : {false, true}) {
    for (Walk& walk : early->walks) {
      walk.within.clear();
      if (in_part) walk.within = {DeviceId{0}, DeviceId{1}};
    }
    settings.resume = early;
    must(plan_auto(*world.problem, settings));
    EXPECT_EQ(last.walks.size(), static_cast<size_t>(kIslands));
    EXPECT_EQ(last.rounds, kRounds);
  }
}

TEST(Auto, BelievesNoCostThatItDoesNotFindItself) {
  const World world(must(make_layered({.ops = 80, .width = 8, .bytes = 1 << 24})), "p100-4");
  AutoSettings settings;
  settings.budget.evaluations = 1000;
  std::optional<IslandsState> middle;
  settings.on_round = [&](const IslandsState& state) { middle = state; };
  const AutoResult whole = must(plan_auto(*world.problem, settings));
  middle->walks[1].best_cost /= 2;
  settings.on_round = {};
  settings.resume = middle;
  const Result<AutoResult> resumed = plan_auto(*world.problem, settings);
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().kind, Error::Kind::invalid_input);
}

// Plans with more and more time until it was enough, which a busy machine may need.
template <class Enough>
void plan_until(const Problem& problem, AutoSettings settings, const Enough& enough) {
  for (int i = 0; i < 9 && !enough(); ++i) {
    settings.budget.wall_clock = std::chrono::milliseconds(100 << i);
    must(plan_auto(problem, settings));
  }
}

TEST(Auto, WeighsAStateAnewWhereScenariosMayDiffer) {
  CostSpec spec;
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.1};
  const World world(must(make_layered({.ops = 80, .width = 8, .bytes = 1 << 24})),
                    must(make_preset("p100-4")), spec);
  AutoSettings settings;
  std::optional<IslandsState> state;
  settings.on_round = [&](const IslandsState& now) { state = now; };
  plan_until(*world.problem, settings, [&] { return state.has_value(); });
  ASSERT_TRUE(state);
  for (Walk& walk : state->walks) walk.best_cost = 1;  // ns
  settings.resume = state;
  const auto is_weighed = [](const Walk& walk) { return walk.best_cost > 1e6; };
  const auto all_are = [&] {
    return std::all_of(state->walks.begin(), state->walks.end(), is_weighed);
  };
  plan_until(*world.problem, settings, all_are);
  EXPECT_TRUE(all_are());
}

TEST(Auto, SpendsAnotherWallClockOnTheStateOfAnEarlierOne) {
  const World world(must(make_layered({.ops = 80, .width = 8, .bytes = 1 << 24})), "p100-4");
  AutoSettings settings;
  std::optional<IslandsState> state;
  settings.on_round = [&](const IslandsState& now) { state = now; };
  plan_until(*world.problem, settings, [&] { return state.has_value(); });
  ASSERT_TRUE(state);
  const IslandsState earlier = *state;
  settings.resume = earlier;
  plan_until(*world.problem, settings, [&] { return state->rounds > earlier.rounds; });
  EXPECT_GT(state->rounds, earlier.rounds);
  EXPECT_GT(state->evaluations, earlier.evaluations);
}

TEST(Auto, StartsFromAPlanThatIsGiven) {
  const World world(must(make_layered({.ops = 80, .width = 8, .bytes = 1 << 24})), "p100-4");
  AutoSettings settings;
  settings.budget.evaluations = 20000;
  const AutoResult good = must(plan_auto(*world.problem, settings));
  settings.budget.evaluations = 100;
  settings.seed = 9;
  settings.from = good.plan;
  EXPECT_LE(must(plan_auto(*world.problem, settings)).makespan, good.makespan);
}

TEST(Auto, KeepsRoomWhereNoPlanThatJustFitsRuns) {
  // Limits at which every policy's plan gets stuck in a run, though less memory makes them succeed.
  int feasible = 0;
  for (int64_t bytes = 5'000'000; bytes <= 8'000'000; bytes += 500'000) {
    Constraints constraints;
    for (const char* gpu : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
      constraints.memory_limits.push_back({.memory = gpu, .bytes = bytes});
    }
    const World world(must(make_layered({.ops = 40})), must(make_preset("p100-4")), {},
                      constraints);
    AutoSettings settings;
    settings.budget.evaluations = 200;
    const Result<AutoResult> result = plan_auto(*world.problem, settings);
    // What fits into less fits into more.
    if (!result) {
      EXPECT_EQ(feasible, 0) << bytes << ": " << result.error().message;
      continue;
    }
    ++feasible;
    EXPECT_TRUE(ScenarioSimulator(*world.problem, SimModel::physical).makespan(result->plan, 0));
  }
  EXPECT_GT(feasible, 0);
}

TEST(Auto, AsksBeamSearchTooWhereMemoryIsShort) {
  Constraints constraints;
  for (const char* memory : {"device0", "device1", "device2"}) {
    constraints.memory_limits.push_back({.memory = memory, .bytes = 20'000'000});
  }
  const World world(must(make_layered({.ops = 60, .width = 12, .bytes = 1'000'000})),
                    must(make_preset("uniform-3")), {}, constraints);
  const Progress progress(Budget{});
  PortfolioWork work{.problem = *world.problem, .progress = progress, .model = {}};
  const std::vector<Candidate> candidates = ask_with_less_memory(work);
  EXPECT_TRUE(std::any_of(candidates.begin(), candidates.end(), [](const Candidate& candidate) {
    return candidate.tried.policy == "beam" && candidate.found;
  }));
}

TEST(Auto, SaysWhyWhenNothingFits) {
  const World world(graph_from(R"("ops":[{"name":"a","kind":"k","run_time_ns":1,
                                          "outputs":[{"bytes":1000}]}])"),
                    machine_from(R"({"schema_version":1,"name":"m","device":[
                      {"name":"d","kind":"d","memory_bytes":10}]})"));
  const Result<AutoResult> result = plan_of(world);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::infeasible);
}

}  // namespace
}  // namespace tutti
