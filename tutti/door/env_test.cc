// Environments of the C interface.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "tutti/tutti.h"

namespace {

tutti::Problem random_problem(uint64_t seed, int32_t ops = 30) {
  tutti_family family{};
  family.size = sizeof(family);
  family.family = "random";
  family.ops = ops;
  family.seed = seed;
  family.ccr = 1;
  tutti_error error;
  tutti_graph* graph = tutti_graph_make(&family, &error);
  EXPECT_NE(graph, nullptr) << error.message;
  return tutti::Problem(tutti::Graph(graph), tutti::Machine("p100-4"));
}

struct Env {
  explicit Env(tutti_env* made) : env(made) {}
  ~Env() { tutti_env_free(env); }
  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;

  // The allowed action of the smallest number in a column of the observation.
  int32_t least(int column) const {
    const int32_t pairs = tutti_env_observation_size(env) / 8;
    int32_t best = -1;
    for (int32_t pair = 0; pair < pairs; ++pair) {
      if (tutti_env_mask(env)[pair] == 0) continue;
      if (best < 0 || at(pair, column) < at(best, column)) best = pair;
    }
    return best >= 0 ? best : tutti_env_action_count(env) - 1;
  }
  float at(int32_t pair, int column) const { return tutti_env_observation(env)[pair * 8 + column]; }

  tutti_env* env;
};

tutti_env* placing_env(int32_t window) {
  tutti_placing_options options{};
  options.size = sizeof(options);
  options.window = window;
  tutti_error error;
  tutti_env* env = tutti_placing_env_new(4, &options, &error);
  EXPECT_NE(env, nullptr) << error.message;
  return env;
}

// Steps to the end by the smallest number of that column. The sum of rewards.
double play(Env& env, int column, tutti_step& step) {
  double sum = 0;
  tutti_error error;
  do {
    if (tutti_env_step(env.env, env.least(column), &step, &error) != TUTTI_OK) {
      ADD_FAILURE() << error.message;
      return 0;
    }
    sum += step.reward;
  } while (step.terminated == 0 && step.truncated == 0);
  return sum;
}

TEST(PlacingEnv, RewardsAddUpToMinusTheSimulatedMakespanOverTheBound) {
  Env env(placing_env(1));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const tutti::Problem problem = random_problem(seed);
    tutti_error error;
    ASSERT_EQ(tutti_placing_env_reset(env.env, problem.handle(), &error), TUTTI_OK);
    tutti_step step{};
    const double sum = play(env, 1, step);
    tutti_plan* plan = tutti_placing_env_plan(env.env, &error);
    ASSERT_NE(plan, nullptr) << error.message;
    EXPECT_EQ(tutti_plan_makespan(plan), step.time_ns);
    tutti_plan_free(plan);
    EXPECT_NEAR(-sum,
                static_cast<double>(step.time_ns) / static_cast<double>(problem.lower_bound_ns()),
                1e-9);
  }
}

TEST(PlacingEnv, TheEarliestFinishUnderContentionIsThePolicyContentionEft) {
  Env env(placing_env(1));
  int equal = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const tutti::Problem problem = random_problem(seed);
    ASSERT_EQ(tutti_placing_env_reset(env.env, problem.handle(), nullptr), TUTTI_OK);
    tutti_step step{};
    play(env, 1, step);
    equal += step.time_ns == tutti::Plan(problem, {.policy = "contention_eft"}).makespan_ns();
  }
  EXPECT_GE(equal, 15);  // they may break ties and order equal ranks differently
}

TEST(PlacingEnv, AWindowLetsTheAgentChooseTheOp) {
  Env env(placing_env(3));
  EXPECT_EQ(tutti_env_action_count(env.env), 12);
  EXPECT_EQ(tutti_env_observation_size(env.env), 12 * 8);
  const tutti::Problem problem = random_problem(3);
  ASSERT_EQ(tutti_placing_env_reset(env.env, problem.handle(), nullptr), TUTTI_OK);
  tutti_step step{};
  play(env, 0, step);
  EXPECT_GE(step.time_ns, problem.lower_bound_ns());
}

TEST(PlacingEnv, AnActionThatIsNotAllowedChangesNothing) {
  Env env(placing_env(2));
  tutti_error error;
  tutti_step step{};
  EXPECT_EQ(tutti_env_step(env.env, 0, &step, &error), TUTTI_INVALID_INPUT);
  EXPECT_NE(std::string(error.message).find("reset"), std::string::npos);
  const tutti::Problem problem = random_problem(1);
  ASSERT_EQ(tutti_placing_env_reset(env.env, problem.handle(), &error), TUTTI_OK);
  const float before = env.at(0, 0);
  // Only the first op of a random graph is ready at the start, so that the second place is empty.
  EXPECT_EQ(tutti_env_mask(env.env)[4], 0);
  for (const int32_t wrong : {-1, 4, 8, 1 << 30}) {
    EXPECT_EQ(tutti_env_step(env.env, wrong, &step, &error), TUTTI_INVALID_INPUT) << wrong;
  }
  EXPECT_EQ(env.at(0, 0), before);
  EXPECT_EQ(tutti_placing_env_plan(env.env, &error), nullptr);
}

TEST(PlacingEnv, AMachineWithOtherDevicesIsRefused) {
  Env env(placing_env(1));
  const tutti::Problem other(tutti::Graph::parse(R"({"format": "tutti-graph", "schema_version": 1,
      "name": "one", "ops": [{"name": "a", "outputs": [{"bytes": 8}], "flops": 1}]})"),
                             tutti::Machine("uniform-2"));
  tutti_error error;
  EXPECT_EQ(tutti_placing_env_reset(env.env, other.handle(), &error), TUTTI_INVALID_INPUT);
  EXPECT_NE(std::string(error.message).find("2 devices"), std::string::npos);
}

tutti_env* jobs_env(int32_t jobs, int32_t most_steps = 0) {
  tutti_jobs_options options{};
  options.size = sizeof(options);
  options.jobs = jobs;
  options.most_steps = most_steps;
  tutti_error error;
  tutti_env* env = tutti_jobs_env_new(&options, &error);
  EXPECT_NE(env, nullptr) << error.message;
  return env;
}

TEST(JobsEnv, AllJobsEndAndTheSameSeedGivesTheSameEpisode) {
  Env env(jobs_env(10));
  double rewards[2];
  int64_t times[2];
  for (int again = 0; again < 2; ++again) {
    ASSERT_EQ(tutti_jobs_env_reset(env.env, 7, nullptr), TUTTI_OK);
    tutti_step step{};
    rewards[again] = play(env, 3, step);
    times[again] = step.time_ns;
    double mean = 0;
    EXPECT_EQ(tutti_jobs_env_slow_down(env.env, &mean), 10);
    EXPECT_GE(mean, 0.5);
  }
  EXPECT_EQ(rewards[0], rewards[1]);
  EXPECT_EQ(times[0], times[1]);
  EXPECT_LT(rewards[0], 0);
}

TEST(JobsEnv, TheQuickestPairIsBetterThanTheSlowest) {
  Env env(jobs_env(20));
  double best = 0;
  double first = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    tutti_step step{};
    ASSERT_EQ(tutti_jobs_env_reset(env.env, seed, nullptr), TUTTI_OK);
    best += play(env, 3, step);
    ASSERT_EQ(tutti_jobs_env_reset(env.env, seed, nullptr), TUTTI_OK);
    do {  // the last pair that is allowed
      int32_t action = tutti_env_observation_size(env.env) / 8 - 1;
      while (action > 0 && tutti_env_mask(env.env)[action] == 0) --action;
      ASSERT_EQ(tutti_env_step(env.env, action, &step, nullptr), TUTTI_OK);
      first += step.reward;
    } while (step.terminated == 0);
  }
  EXPECT_GT(best, first);
}

TEST(JobsEnv, AnEpisodeIsCutShortAfterSoManySteps) {
  Env env(jobs_env(10, 5));
  ASSERT_EQ(tutti_jobs_env_reset(env.env, 1, nullptr), TUTTI_OK);
  tutti_step step{};
  play(env, 3, step);
  EXPECT_EQ(step.truncated, 1);
  EXPECT_EQ(step.terminated, 0);
}

TEST(JobsEnv, MachinesWithContextsAreRefusedWithASentence) {
  const tutti::Machine fpga =
      tutti::Machine::parse(R"({"schema_version": 1, "name": "f", "device": [
      {"name": "fpga", "kind": "fpga", "slots": 2, "contexts": 2, "flops_per_s": 1e9,
       "reconfiguration_time_ns": 1000, "uses_host_memory": true}]})");
  tutti_jobs_options options{};
  options.size = sizeof(options);
  options.machine = fpga.handle();
  tutti_error error;
  EXPECT_EQ(tutti_jobs_env_new(&options, &error), nullptr);
  EXPECT_NE(std::string(error.message).find("contexts"), std::string::npos) << error.message;
}

TEST(Envs, SeveralAreSteppedByOneCallAndThoseOfMinusOneAreLeft) {
  Env first(placing_env(1));
  Env second(placing_env(1));
  const tutti::Problem problem = random_problem(1);
  ASSERT_EQ(tutti_placing_env_reset(first.env, problem.handle(), nullptr), TUTTI_OK);
  ASSERT_EQ(tutti_placing_env_reset(second.env, problem.handle(), nullptr), TUTTI_OK);
  tutti_env* const both[] = {first.env, second.env};
  const int32_t actions[] = {first.least(1), -1};
  const float before = second.at(0, 0);
  tutti_step steps[2];
  ASSERT_EQ(tutti_envs_step(both, 2, actions, steps, nullptr), TUTTI_OK);
  EXPECT_EQ(second.at(0, 0), before);
  EXPECT_EQ(steps[1].reward, 0);
}

}  // namespace
