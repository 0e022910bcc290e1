#include "tutti/search/explain.h"

#include <gtest/gtest.h>

#include "test/support/world.h"

namespace tutti {
namespace {

// x is at the host; p and q are beside each other; the join needs both. Links carry a byte per ns.
World world_with(const CostSpec& costs = {}) {
  return World(graph_from(R"("inputs":[{"name":"x","bytes":30,"residence":"host"}],"ops":[
      {"name":"p","kind":"k","operands":["x"],"outputs":[{"name":"v","bytes":100}],"run_time_ns":10},
      {"name":"q","kind":"k","operands":[],"outputs":[{"name":"w","bytes":100}],"run_time_ns":50},
      {"name":"join","kind":"k","operands":["v","w"],"run_time_ns":1}])"),
               machine_from(R"({"schema_version":1,"name":"two",
      "host":[{"name":"host"}],
      "device":[{"name":"d0","kind":"d"},{"name":"d1","kind":"d"}],
      "link":[{"name":"h","between":["host","d0"],"latency_ns":0,"bandwidth_bytes_per_s":1e9},
               {"name":"l","between":["d0","d1"],"latency_ns":0,"bandwidth_bytes_per_s":1e9}]})"),
               costs);
}

constexpr OpId kP{0}, kQ{1}, kJoin{2};
const Plan kApart{.placement = {DeviceId{0}, DeviceId{1}, DeviceId{1}}, .priority = {0, 0, 0}};

TEST(Explain, AnOpIsCriticalIfItsValueArrivedLast) {
  // p: 30 to 40, its value there at 140; q: 0 to 50.
  const World world = world_with();
  EXPECT_TRUE(must(explain(*world.problem, kApart, kP, {})).critical);
  EXPECT_FALSE(must(explain(*world.problem, kApart, kQ, {})).critical);
  const Explanation join = must(explain(*world.problem, kApart, kJoin, {}));
  EXPECT_EQ(join.start, Duration(140));
  EXPECT_EQ(join.because, "the value of 'p' arrived then, 100 ns after it was made");
}

TEST(Explain, NamesTheGraphInputThatAnOpWaitedFor) {
  const World world = world_with();
  const Explanation p = must(explain(*world.problem, kApart, kP, {}));
  EXPECT_EQ(p.start, Duration(30));
  EXPECT_EQ(p.because, "the graph input 'x' arrived then from memory 'host'");
}

TEST(Explain, NamesTheOpThatHeldTheDevice) {
  // All on d0: q goes first and ends at 50; p's input was there at 30.
  const World world = world_with();
  const Plan together{.placement = {DeviceId{0}, DeviceId{0}, DeviceId{0}}, .priority = {0, 0, 0}};
  const Explanation p = must(explain(*world.problem, together, kP, {}));
  EXPECT_EQ(p.because, "its operands were there at 30 ns, and 'q' held the device until then");
  EXPECT_TRUE(must(explain(*world.problem, together, kQ, {})).critical);
}

TEST(Explain, TellsOfOneAndTheSameScenario) {
  CostSpec spec;
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.3};
  const World world = world_with(spec);
  for (uint64_t seed = 1; seed < 20; ++seed) {
    const Explanation join =
        must(explain(*world.problem, kApart, kJoin, {.scenarios = {.seed = seed}}));
    EXPECT_EQ(join.scenario, seed);
    // The join is the last op, so the run ends with it.
    EXPECT_EQ(join.finish, *join.alternatives[1].makespan) << seed;
  }
  const World quiet = world_with();
  EXPECT_FALSE(must(explain(*quiet.problem, kApart, kJoin, {})).scenario);
}

}  // namespace
}  // namespace tutti
