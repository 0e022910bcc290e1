// What commands promise beyond what the rooms below them do: run as a user would.

#include <regex>
#include <string>

#include "test/support/cli.h"

namespace tutti {
namespace {

using Commands = Cli;

// The number behind a key in JSON, the n-th of them.
double number_of(const std::string& json, const std::string& key, int n = 0) {
  const std::regex pattern("\"" + key + "\": *(-?[0-9.e+-]+)");
  auto found = std::sregex_iterator(json.begin(), json.end(), pattern);
  for (; n > 0 && found != std::sregex_iterator(); --n) ++found;
  if (found == std::sregex_iterator()) {
    ADD_FAILURE() << key << " is missing in " << json;
    return -1;
  }
  return std::stod((*found)[1]);
}

TEST_F(Commands, WhatIfNeverLosesByADeviceMore) {
  // By luck of the search alone, the first of these seeds did.
  for (const char* seed : {"1", "2", "3"}) {
    const std::string graph = path("graph.json");
    ASSERT_EQ(run({"graph", "make", "layered", "--ops", "60", "--width", "8", "--bytes", "20000000",
                   "--seed", seed, "-o", graph})
                  .exit_code,
              0);
    const Ran more =
        run({"what-if", graph, "-m", "p100-4", "--add", "gpu", "--evaluations", "150", "--json"});
    ASSERT_EQ(more.exit_code, 0) << more.err;
    EXPECT_LE(number_of(more.out, "change"), 0) << "seed " << seed;
    const Ran fewer = run(
        {"what-if", graph, "-m", "p100-4", "--remove", "gpu0", "--evaluations", "150", "--json"});
    ASSERT_EQ(fewer.exit_code, 0) << fewer.err;
    EXPECT_GE(number_of(fewer.out, "change"), 0) << "seed " << seed;
  }
}

TEST_F(Commands, PlanNamesThePoliciesWithoutAPlan) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "30", "-o", graph}).exit_code, 0);
  const Ran ran = run({"plan", graph, "-m", "p100-4", "--evaluations", "50"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("left out: expert (no plan that runs"), std::string::npos) << ran.out;
}

TEST_F(Commands, PlanKeepsToACountBeyondOnePlanOfEachPolicy) {
  const std::string graph = path("graph.json");
  ASSERT_EQ(run({"graph", "make", "layered", "--ops", "30", "-o", graph}).exit_code, 0);
  for (const int count : {1, 25, 60, 500}) {
    const Ran ran =
        run({"plan", graph, "-m", "p100-4", "--evaluations", std::to_string(count), "--json"});
    ASSERT_EQ(ran.exit_code, 0) << ran.err;
    // There are some twenty policies; a round of the search may end a little late.
    EXPECT_LE(number_of(ran.out, "evaluations"), std::max(25, count + count / 5)) << count;
  }
}

TEST_F(Commands, PlanSaysNothingOfThePlanThatItsSearchStartedFrom) {
  // Here the search starts from a plan of m_sct, which notes how it chose.
  const std::string graph = path("graph.json");
  ASSERT_EQ(
      run({"graph", "make", "layered", "--ops", "40", "--bytes", "1000000", "-o", graph}).exit_code,
      0);
  std::string limits;
  for (const char* gpu : {"gpu0", "gpu1", "gpu2", "gpu3"}) {
    limits += (limits.empty() ? "" : ",") + std::string(R"({"memory": ")") + gpu +
              R"(", "bytes": 6500000})";
  }
  const std::string rules =
      write("rules.json", R"({"schema_version": 1, "memory_limit": [)" + limits + "]}");
  const Ran ran =
      run({"plan", graph, "-m", "p100-4", "--constraints", rules, "--evaluations", "200"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  ASSERT_TRUE(ran.out.starts_with("auto:search:")) << ran.out;
  EXPECT_EQ(ran.out.find("favourites"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace tutti
