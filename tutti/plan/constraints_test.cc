#include "tutti/plan/constraints.h"

#include <gtest/gtest.h>

#include "tutti/base/file/document.h"

namespace tutti {
namespace {

Result<Constraints> read(const std::string& text) {
  Source source = Source::from_text("rules.toml", text);
  return read_constraints(source);
}

constexpr const char* kJson = R"({"schema_version": 1, "memory": true,
  "memory_limit": [{"memory": "gpu0", "bytes": 1000}],
  "colocate": [["a", "b"], ["c", "d", "e"]],
  "pin": [{"op": "a", "device": "gpu0"}, {"op": "c", "devices": ["gpu0", "gpu1"]}],
  "forbid": [{"op_kind": "matmul", "device_kind": "cpu"}, {"op": "e", "device": "gpu1"}]})";

constexpr const char* kToml = R"(
schema_version = 1
colocate = [["a", "b"], ["c", "d", "e"]]
[[memory_limit]]
memory = "gpu0"
bytes = 1000
[[pin]]
op = "a"
device = "gpu0"
[[pin]]
op = "c"
devices = ["gpu0", "gpu1"]
[[forbid]]
op_kind = "matmul"
device_kind = "cpu"
[[forbid]]
op = "e"
device = "gpu1"
)";

void expect_all_rules(const Result<Constraints>& constraints) {
  ASSERT_TRUE(constraints) << constraints.error().message;
  EXPECT_TRUE(constraints->memory);
  ASSERT_EQ(constraints->memory_limits.size(), 1u);
  EXPECT_EQ(constraints->memory_limits[0].memory, "gpu0");
  EXPECT_EQ(constraints->memory_limits[0].bytes, 1000);
  ASSERT_EQ(constraints->colocations.size(), 2u);
  EXPECT_EQ(constraints->colocations[1], (std::vector<std::string>{"c", "d", "e"}));
  ASSERT_EQ(constraints->pins.size(), 2u);
  EXPECT_EQ(constraints->pins[0].devices, (std::vector<std::string>{"gpu0"}));
  EXPECT_EQ(constraints->pins[1].devices, (std::vector<std::string>{"gpu0", "gpu1"}));
  ASSERT_EQ(constraints->forbidden.size(), 2u);
  EXPECT_EQ(constraints->forbidden[0].op_kind, "matmul");
  EXPECT_EQ(constraints->forbidden[0].device_kind, "cpu");
  EXPECT_EQ(constraints->forbidden[1].op, "e");
  EXPECT_EQ(constraints->forbidden[1].device, "gpu1");
}

TEST(Constraints, AreReadFromJson) {
  expect_all_rules(read(kJson));
}

TEST(Constraints, AreTheSameInToml) {
  if (!can_read_toml()) GTEST_SKIP() << "this build has no toml++";
  expect_all_rules(read(kToml));
}

TEST(Constraints, ThatSayNothingAskNothing) {
  const Result<Constraints> constraints = read("{\"schema_version\": 1}");
  ASSERT_TRUE(constraints) << constraints.error().message;
  EXPECT_TRUE(constraints->memory);
  EXPECT_TRUE(constraints->pins.empty());
}

struct Wrong {
  const char* claim;
  std::string text;
  const char* sentence;
};

class WrongConstraints : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongConstraints, AreRefusedWithTheirLine) {
  const Result<Constraints> constraints = read(GetParam().text);
  ASSERT_FALSE(constraints);
  const Error& error = constraints.error();
  EXPECT_EQ(error.kind, Error::Kind::invalid_input);
  EXPECT_EQ(error.message.find("rules.toml:"), 0u) << error.message;
  EXPECT_NE(error.message.find(GetParam().sentence), std::string::npos) << error.message;
}

std::string rule(const std::string& rest) {
  return "{\"schema_version\": 1,\n" + rest + "}";
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongConstraints,
    ::testing::Values(
        Wrong{"NoVersion", "{}", "needs the key \"schema_version\""},
        Wrong{"OtherVersion", "{\"schema_version\": 2}", "reads schema_version 1"},
        Wrong{"Truncated", "{\"schema_version\": 1, \"pin\": [", "not valid JSON"},
        Wrong{"UnknownKey", rule("\"pins\": []"), "no key \"pins\""},
        Wrong{"KeyTwice", rule("\"pin\": [], \"pin\": []"), "stands twice"},
        Wrong{"MemoryIsText", rule("\"memory\": \"yes\""), "must be true or false"},
        Wrong{"NegativeBytes", rule("\"memory_limit\": [{\"memory\": \"m\", \"bytes\": -1}]"),
              "whole number of at least 0"},
        Wrong{"FractionOfAByte", rule("\"memory_limit\": [{\"memory\": \"m\", \"bytes\": 0.5}]"),
              "whole number of at least 0"},
        Wrong{"NanBytes", rule("\"memory_limit\": [{\"memory\": \"m\", \"bytes\": NaN}]"),
              "not valid JSON"},
        Wrong{"LonelyColocation", rule("\"colocate\": [[\"a\"]]"), "two ops or more"},
        Wrong{"ColocationOfNumbers", rule("\"colocate\": [[1, 2]]"), "two ops or more"},
        Wrong{"PinWithoutDevice", rule("\"pin\": [{\"op\": \"a\"}]"), "either \"device\" or"},
        Wrong{"PinWithBoth",
              rule("\"pin\": [{\"op\": \"a\", \"device\": \"g\", \"devices\": [\"h\"]}]"),
              "either \"device\" or"},
        Wrong{"PinIsText", rule("\"pin\": [\"a\"]"), "must be a table of keys"},
        Wrong{"ForbidNothing", rule("\"forbid\": [{\"device\": \"g\"}]"),
              "either \"op\" or \"op_kind\""},
        Wrong{"ForbidNowhere", rule("\"forbid\": [{\"op\": \"a\"}]"),
              "either \"device\" or \"device_kind\""},
        Wrong{"DeepNesting", rule("\"pin\": " + std::string(1000, '[')), "nested deeper"},
        Wrong{"NoUtf8", rule("\"pin\": [{\"op\": \"\xff\", \"device\": \"g\"}]"),
              "not valid JSON"}),
    [](const auto& instance) { return instance.param.claim; });

}  // namespace
}  // namespace tutti
