// The C interface, and the C++ headers over it, as a program outside of tutti uses them.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tutti/tutti.h"

namespace {

constexpr const char* kTwo = R"({"schema_version": 1, "name": "two", "device": [
    {"name": "left", "kind": "cpu", "flops_per_s": 1e9, "uses_host_memory": true},
    {"name": "right", "kind": "cpu", "flops_per_s": 1e9, "uses_host_memory": true}]})";

// Two ops of 1 ms each that an op of 1 us reads.
tutti::Graph pair_graph() {
  tutti::GraphBuilder graph("pair");
  const tutti::Value in = graph.input("in", {4});
  const auto a = graph.op("a", "twice", {in}, {4}, {.flops = 1e6});
  const auto b = graph.op("b", "twice", {in}, {4}, {.flops = 1e6});
  graph.op("sum", "add", {a, b}, {4}, {.flops = 1e3});
  return graph.build();
}

tutti::Problem pair_problem() {
  return tutti::Problem(pair_graph(), tutti::Machine::parse(kTwo));
}

void twice(const tutti::Call& call) {
  const auto in = call.operand<float>(0);
  for (size_t i = 0; i < in.size(); ++i) call.output<float>(0)[i] = 2 * in[i];
}

// The sentence of what throws; empty if nothing does.
template <class Body>
std::string sentence_of(Body body) {
  try {
    body();
  } catch (const tutti::Error& error) {
    EXPECT_NE(error.code(), TUTTI_OK);
    return error.what();
  }
  return "";
}

TEST(Door, APlanOfTwoEqualOpsUsesBothDevicesAndReachesTheBound) {
  const tutti::Problem problem = pair_problem();
  const tutti::Plan plan(problem, {.evaluations = 50});
  EXPECT_NE(plan.devices()[0], plan.devices()[1]);
  EXPECT_EQ(plan.makespan_ns(), 1'001'000);  // 1 ms side by side, then 1 us
  EXPECT_EQ(problem.lower_bound_ns(), 1'001'000);
  EXPECT_EQ(plan.gap(), 0);
  EXPECT_EQ(plan.policy().substr(0, 4), "auto");
}

TEST(Door, APlanByHandIsSimulatedAsItIsGiven) {
  const tutti::Problem problem = pair_problem();
  const tutti::Plan plan = tutti::Plan::of(problem, {1, 1, 0});
  EXPECT_EQ(plan.makespan_ns(), 2'001'000);
  const tutti::Run run = tutti::simulate(problem, plan);
  EXPECT_EQ(run.makespan_ns(), 2'001'000);
  EXPECT_EQ(run.devices()[0], 1);
  EXPECT_EQ(run.starts()[1], 1'000'000);
  EXPECT_EQ(run.finishes()[2], 2'001'000);
  EXPECT_NE(run.trace().find("\"a\""), std::string::npos);
}

TEST(Door, ARunWithOwnOpsComputesAndKeepsWhatNoOpReads) {
  const tutti::Problem problem = pair_problem();
  const tutti::Plan plan = tutti::Plan::of(problem, {0, 0, 0});
  // One core is enough: the other device has none bound to it when the host has only one.
  tutti::GraphBuilder graph("one");
  const tutti::Value in = graph.input("in", {4});
  const tutti::Value out = graph.op("a", "twice", {in}, {4}, {.flops = 1});
  const tutti::Problem one(graph.build(), tutti::Machine("this-host:1x1"));
  tutti::Engine engine(one, {{"twice", twice}});
  engine.set_input(in, std::vector<float>{1, 2, 3, 4});
  const tutti::Plan its = tutti::Plan::of(one, {0});
  for (int again = 0; again < 2; ++again) {
    const tutti::Run run = engine.run(its);
    EXPECT_EQ(run.value<float>(out)[3], 8.0F);
    EXPECT_THROW(run.value<float>(in), tutti::Error);
  }
  EXPECT_THROW(engine.run(plan), tutti::Error);  // it is of another problem
}

TEST(Door, AShapeWithoutSizesIsAScalar) {
  tutti::GraphBuilder graph("scalar");
  const auto numbers = graph.input("numbers", {4});
  const auto sum = graph.op("sum", "sum", {numbers}, {});
  const tutti::Problem problem(graph.build(), tutti::Machine("this-host:1x1"));
  const auto add_up = [](const tutti::Call& call) {
    float all = 0;
    for (const float number : call.operand<float>(0)) all += number;
    call.output<float>(0)[0] = all;
  };
  tutti::Engine engine(problem, {{"sum", add_up}});
  engine.set_input(numbers, std::vector<float>{1, 2, 3, 4});
  const auto result = engine.run(tutti::Plan(problem, {.policy = "heft"}));
  ASSERT_EQ(result.value<float>(sum).size(), 1u);
  EXPECT_EQ(result.value<float>(sum)[0], 10);
}

TEST(Door, AFunctionThatThrowsEndsTheRunWithItsSentenceAndTheNextRunIsNotAffected) {
  tutti::GraphBuilder graph("one");
  const tutti::Value out = graph.op("a", "maybe", {}, {1}, {.flops = 1});
  const tutti::Problem problem(graph.build(), tutti::Machine("this-host:1x1"));
  bool fails = true;
  tutti::Engine engine(problem, {{"maybe", [&fails](const tutti::Call& call) {
                                    if (fails) throw std::runtime_error("the moon is full");
                                    call.output<float>(0)[0] = 7;
                                  }}});
  const tutti::Plan plan = tutti::Plan::of(problem, {0});
  EXPECT_NE(sentence_of([&] { engine.run(plan); }).find("the moon is full"), std::string::npos);
  fails = false;
  EXPECT_EQ(engine.run(plan).value<float>(out)[0], 7);
}

TEST(Door, ComparedPoliciesHaveGapsAndAWrongNameSaysWhichThereAre) {
  const tutti::Problem problem = pair_problem();
  const auto rows = tutti::compare(problem, {"heft", "single_device"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].gap, 0);
  EXPECT_EQ(rows[1].mean_ns, 2'001'000);
  EXPECT_NE(sentence_of([&] { tutti::compare(problem, {"luck"}); }).find("heft"),
            std::string::npos);
}

TEST(Door, WrongInputIsOneSentence) {
  EXPECT_NE(sentence_of([] { tutti::Graph::load("/no/such/file"); }).find("/no/such/file"),
            std::string::npos);
  EXPECT_NE(
      sentence_of([] { tutti::Graph::parse("{\"format\": \"tutti-graph\"", "mine"); }).find("mine"),
      std::string::npos);
  EXPECT_NE(sentence_of([] { tutti::Machine("p100-99"); }).find("p100"), std::string::npos);
  EXPECT_NE(sentence_of([] {
              tutti::GraphBuilder graph("g");
              graph.op("a", "k", {{7}}, {1});
            }).find("operand 0 is value 7"),
            std::string::npos);
  EXPECT_NE(sentence_of([] {
              tutti::GraphBuilder graph("g");
              graph.op("a", "k", {}, {1});
              graph.op("a", "k", {}, {1});
            }).find("already"),
            std::string::npos);
  EXPECT_NE(sentence_of([] {
              tutti::GraphBuilder graph("g");
              graph.op("a", "k", {}, {{-1}, "f32"});
            }).find("negative"),
            std::string::npos);
  EXPECT_NE(sentence_of([] {
              tutti::Plan::of(pair_problem(), {0, 1});
            }).find("2 devices for 3 ops"),
            std::string::npos);
  EXPECT_NE(sentence_of([] {
              tutti::Plan::of(pair_problem(), {0, 1, 2});
            }).find("there are 2 devices"),
            std::string::npos);
}

TEST(Door, APlanThatNoMemoryCanHoldIsInfeasible) {
  const tutti::Machine small = tutti::Machine::parse(R"({"schema_version": 1, "name": "small",
      "host": [{"name": "host", "memory_bytes": 8}], "device": [
      {"name": "cpu", "kind": "cpu", "flops_per_s": 1e9, "uses_host_memory": true}]})");
  const tutti::Problem problem(pair_graph(), small);
  try {
    tutti::Plan plan(problem, {.evaluations = 10});
    FAIL() << "there is a plan";
  } catch (const tutti::Error& error) {
    EXPECT_EQ(error.code(), TUTTI_INFEASIBLE) << error.what();
  }
}

TEST(Door, NullIsASentenceAndNotACrash) {
  tutti_error error;
  EXPECT_EQ(tutti_graph_load(nullptr, &error), nullptr);
  EXPECT_EQ(error.code, TUTTI_INVALID_INPUT);
  EXPECT_NE(std::string(error.message).find("tutti_graph_load"), std::string::npos);
  EXPECT_EQ(tutti_problem_make(nullptr, nullptr, nullptr, nullptr), nullptr);
  EXPECT_EQ(tutti_plan_make(nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(tutti_compare(nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(tutti_engine_open(nullptr, nullptr, &error), nullptr);
  EXPECT_EQ(tutti_env_step(nullptr, 0, nullptr, &error), TUTTI_INVALID_INPUT);
  EXPECT_EQ(tutti_placing_env_reset(nullptr, nullptr, &error), TUTTI_INVALID_INPUT);
  EXPECT_EQ(tutti_jobs_env_reset(nullptr, 1, &error), TUTTI_INVALID_INPUT);
  EXPECT_EQ(tutti_plan_makespan(nullptr), -1);
  EXPECT_EQ(tutti_problem_op_name(nullptr, 0), nullptr);
  tutti_plan_free(nullptr);
  tutti_env_free(nullptr);
}

TEST(Door, OptionsOfAnOlderHeaderAreShorterAndThoseOfANewerOneAreRefused) {
  const tutti::Problem problem = pair_problem();
  struct {
    size_t size;
    const char* policy;
  } older = {sizeof(older), "heft"};
  tutti_error error;
  tutti_plan* plan = tutti_plan_make(problem.handle(),
                                     reinterpret_cast<const tutti_plan_options*>(&older), &error);
  ASSERT_NE(plan, nullptr) << error.message;
  EXPECT_STREQ(tutti_plan_policy(plan), "heft");
  tutti_plan_free(plan);
  tutti_plan_options newer{};
  newer.size = sizeof(newer) + 8;
  EXPECT_EQ(tutti_plan_make(problem.handle(), &newer, &error), nullptr);
  EXPECT_EQ(error.code, TUTTI_INVALID_INPUT);
}

TEST(Door, ALongSentenceIsCutBetweenCharacters) {
  std::string path = "/no";
  while (path.size() < 3000) path += "\xC3\xA4";  // a with two dots
  tutti_error error;
  EXPECT_EQ(tutti_graph_load(path.c_str(), &error), nullptr);
  const std::string message = error.message;
  ASSERT_LT(message.size(), sizeof(error.message));
  EXPECT_NE(static_cast<unsigned char>(message.back()), 0xC3);
}

TEST(Door, HandlesMayBeFreedInAnyOrder) {
  tutti_error error;
  tutti_family family{};
  family.size = sizeof(family);
  family.family = "random";
  tutti_graph* graph = tutti_graph_make(&family, &error);
  tutti_machine* machine = tutti_machine_load("p100-4", &error);
  tutti_problem* problem = tutti_problem_make(graph, machine, nullptr, &error);
  ASSERT_NE(problem, nullptr) << error.message;
  tutti_graph_free(graph);
  tutti_machine_free(machine);
  tutti_plan_options options{};
  options.size = sizeof(options);
  options.policy = "heft";
  tutti_plan* plan = tutti_plan_make(problem, &options, &error);
  ASSERT_NE(plan, nullptr) << error.message;
  tutti_run* run = tutti_simulate(problem, plan, nullptr, &error);
  ASSERT_NE(run, nullptr) << error.message;
  tutti_problem_free(problem);
  tutti_plan_free(plan);
  EXPECT_GT(std::strlen(tutti_run_trace(run)), 100U);
  EXPECT_GT(tutti_run_transfer_count(run), 0U);
  tutti_run_free(run);
}

TEST(Door, AProblemMayBeReadByManyThreads) {
  const tutti::Problem problem = pair_problem();
  std::vector<int64_t> makespans(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < makespans.size(); ++i) {
    threads.emplace_back([&problem, &makespans, i] {
      EXPECT_EQ(problem.op_name(2), "sum");
      makespans[i] = tutti::Plan(problem, {.policy = "heft"}).makespan_ns();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int64_t makespan : makespans) EXPECT_EQ(makespan, problem.lower_bound_ns());
}

}  // namespace
