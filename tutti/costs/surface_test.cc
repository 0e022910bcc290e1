#include "tutti/costs/surface.h"

#include <gtest/gtest.h>

#include <cmath>

#include "test/support/world.h"
#include "tutti/base/file/document.h"
#include "tutti/costs/costs.h"
#include "tutti/costs/file.h"

namespace tutti {
namespace {

MeasuredPoint point(double flops, double bytes, double time_ns, std::string variant = "") {
  return {.work = {.flops = flops,
                   .read_bytes = bytes,
                   .written_bytes = bytes / 2,
                   .variant = std::move(variant)},
          .time_ns = time_ns,
          .spread = 0.02,
          .count = 20};
}

OpWork work(double flops, double bytes, std::string variant = "") {
  return point(flops, bytes, 1, std::move(variant)).work;
}

TEST(OpWork, CallsTheIndicesOfAProductByOneName) {
  EXPECT_EQ(canonical_einsum("xk,ky->xy"), "ab,bc->ac");
  EXPECT_EQ(canonical_einsum("ik,kj->ij"), "ab,bc->ac");
  EXPECT_EQ(canonical_einsum("ki,kj->ij"), "ab,ac->bc");
}

TEST(OpWork, KnowsWhatIsReadAndWrittenAndInWhichWay) {
  const Graph graph = graph_from(
      R"("inputs":[{"name":"x","bytes":100}],
         "ops":[{"name":"a","kind":"softmax","operands":["x","x"],"flops":7,
                 "attributes":{"axis":"1","first_row":"3","factor":"2"},
                 "outputs":[{"bytes":30},{"bytes":4}]}])");
  const OpWork found = work_of(graph, OpId{0});
  EXPECT_EQ(found.flops, 7);
  EXPECT_EQ(found.read_bytes, 200);
  EXPECT_EQ(found.written_bytes, 34);
  EXPECT_EQ(found.variant, "axis=1 causal");
}

TEST(OpWork, OfAProductIsTheSameWhetherItsIndicesAreSpeltOut) {
  const Graph graph = graph_from(
      R"("inputs":[{"name":"x","bytes":100}],
         "ops":[{"name":"a","kind":"matmul","operands":["x","x"],"flops":7},
                {"name":"b","kind":"matmul","operands":["x","x"],"flops":7,
                 "attributes":{"einsum":"ik,kj->ij"}}])");
  EXPECT_EQ(work_of(graph, OpId{0}), work_of(graph, OpId{1}));
}

TEST(WorkLaw, FindsOverheadAndRates) {
  // 500 ns + flops / 2 per ns + 3 bytes of every 2 / 6 per ns.
  std::vector<MeasuredPoint> points;
  for (const double flops : {100.0, 1e4, 1e6}) {
    for (const double bytes : {1000.0, 1e5}) {
      points.push_back(point(flops, bytes, 500 + flops / 2 + 1.5 * bytes / 6));
    }
  }
  const WorkLaw law = WorkLaw::fit(points);
  EXPECT_NEAR(law.overhead_ns, 500, 1e-6);
  EXPECT_NEAR(law.ns_per_flop, 0.5, 1e-9);
  EXPECT_NEAR(law.ns_per_byte, 1 / 6.0, 1e-9);
}

TEST(WorkLaw, ScalesASinglePointWithItsFlops) {
  const WorkLaw law = WorkLaw::fit({point(1000, 50, 200)});
  EXPECT_DOUBLE_EQ(law.time_ns(work(4000, 50)), 800);
  const WorkLaw moves = WorkLaw::fit({point(0, 100, 300)});
  EXPECT_DOUBLE_EQ(moves.time_ns(work(0, 200)), 600);
}

TEST(Surface, IsTheMeasuredTimeWhereItWasMeasured) {
  // The middle one is three times what its neighbours would have it be.
  const Surface surface(
      {point(1e6, 1e4, 1e5), point(2e6, 2e4, 6e5), point(4e6, 4e4, 4e5), point(8e6, 8e4, 8e5)});
  EXPECT_NEAR(surface.at(work(2e6, 2e4)).time_ns, 6e5, 0.02 * 6e5);
  EXPECT_LT(surface.at(work(2e6, 2e4)).spread, 0.04);
}

TEST(Surface, FollowsALawBetweenAndBeyondItsPointsAndIsLessSureThere) {
  std::vector<MeasuredPoint> points;
  for (double flops = 1e4; flops < 1e9; flops *= 8) {
    points.push_back(point(flops, flops / 10, 2000 + flops / 5));
  }
  const Surface surface(points);
  const auto law = [](double flops) { return 2000 + flops / 5; };
  double last_spread = 0;
  for (const double flops : {8e4, 2e5, 1e10, 1e12, 1e14}) {
    const Surface::Estimate estimate = surface.at(work(flops, flops / 10));
    EXPECT_NEAR(estimate.time_ns / law(flops), 1, 0.03) << flops;
    EXPECT_GT(estimate.spread, last_spread) << flops;
    last_spread = estimate.spread;
  }
  EXPECT_GT(last_spread, 0.2);
  EXPECT_NEAR(surface.at(work(1, 0)).time_ns, 2000, 200);
}

TEST(Surface, TakesTheWordOfTheSameVariantBeforeThatOfAnother) {
  std::vector<MeasuredPoint> points;
  for (double flops = 1e4; flops < 1e8; flops *= 10) {
    points.push_back(point(flops, flops, flops, "permutation=0,1"));
    points.push_back(point(flops, flops, 3 * flops, "permutation=1,0"));
  }
  const Surface surface(points);
  EXPECT_NEAR(surface.at(work(3e5, 3e5, "permutation=0,1")).time_ns / 3e5, 1, 0.1);
  EXPECT_NEAR(surface.at(work(3e5, 3e5, "permutation=1,0")).time_ns / 3e5, 3, 0.3);
  // Of a third nobody knows anything but that it lies about the two.
  const Surface::Estimate other = surface.at(work(3e5, 3e5, "permutation=2,0,1"));
  EXPECT_GT(other.time_ns, 1.2 * 3e5);
  EXPECT_LT(other.time_ns, 2.8 * 3e5);
  EXPECT_GT(other.spread, 0.3);
}

const char* const kTwoKinds = R"({"schema_version":1,"name":"m",
  "device":[{"name":"c0","kind":"cpu","flops_per_s":1e9},
            {"name":"g0","kind":"gpu","flops_per_s":1e11}],
  "link":[{"name":"a","between":["c0","g0"]}]})";

CostSpec measured_on_the_gpu() {
  CostSpec spec;
  spec.run_times.push_back({.kind = "k", .device_kind = "gpu", .points = {point(1e6, 0, 5000)}});
  spec.run_time_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.5};
  return spec;
}

TEST(Costs, TakeMeanAndSpreadFromMeasuredPoints) {
  const Graph graph = graph_from(R"("ops":[{"name":"a","kind":"k","flops":1e6},
                                           {"name":"b","kind":"k","flops":1e6,"run_time_ns":9}])");
  const Machine machine = machine_from(kTwoKinds);
  const Costs costs = must(Costs::build(graph, machine, measured_on_the_gpu()));
  EXPECT_NEAR(static_cast<double>(costs.run_time(OpId{0}, DeviceId{1}).count()), 5000, 1);
  EXPECT_EQ(costs.run_time(OpId{0}, DeviceId{0}), Duration(1'000'000));
  EXPECT_LT(costs.run_time_noise(OpId{0}, DeviceId{1}).spec().spread, 0.05);
  EXPECT_EQ(costs.run_time_noise(OpId{0}, DeviceId{0}).spec().spread, 0.5);
  // A given time keeps the noise of its kind.
  EXPECT_EQ(costs.run_time(OpId{1}, DeviceId{1}), Duration(9));
  EXPECT_EQ(costs.run_time_noise(OpId{1}, DeviceId{1}).spec().spread, 0.5);
  EXPECT_NEAR(costs.mean_spread(OpId{0}),
              (0.5 + costs.run_time_noise(OpId{0}, DeviceId{1}).spec().spread) / 2, 1e-12);
}

TEST(Costs, LeaveMeasuredSpreadsOutWhenAskedTo) {
  const Graph graph = graph_from(R"("ops":[{"name":"a","kind":"k","flops":1e6}])");
  const Machine machine = machine_from(kTwoKinds);
  CostSpec spec = measured_on_the_gpu();
  const Costs with = must(Costs::build(graph, machine, spec));
  spec.ignore_spreads = true;
  const Costs without = must(Costs::build(graph, machine, spec));
  EXPECT_EQ(without.run_time_noise(OpId{0}, DeviceId{1}).spec().spread, 0.5);
  EXPECT_NE(with.fingerprint(), without.fingerprint());
}

TEST(Costs, OfGatheredOpsAddUpTheirVariances) {
  const Graph parts = graph_from(R"("ops":[{"name":"a","kind":"k","flops":1e6},
                                           {"name":"b","kind":"k","flops":1e6}])");
  const Graph whole = graph_from(R"("ops":[{"name":"both","kind":"k"}])");
  const Machine machine = machine_from(kTwoKinds);
  const Costs costs = must(Costs::build(parts, machine, measured_on_the_gpu()));
  const std::vector<int32_t> into = {0, 0};
  const Costs both = must(costs.gathered(whole, into));
  const double one = costs.run_time_noise(OpId{0}, DeviceId{1}).spec().spread;
  // Two equal parts: sqrt(2) times the deviation over twice the mean.
  EXPECT_NEAR(both.run_time_noise(OpId{0}, DeviceId{1}).spec().spread, one / std::sqrt(2), 0.001);
}

CostSpec every_part() {
  CostSpec spec = measured_on_the_gpu();
  spec.run_times.push_back(
      {.kind = "k", .device_kind = "gpu", .points = {point(3, 4, 5, "axis=1")}});
  spec.op_times.push_back({.op = "layer \"1\"", .device_kind = "gpu", .time_ns = 2.5});
  spec.op_times.push_back({.op = "b", .device_kind = "", .time_ns = 7, .spread = 0.25});
  spec.run_times.push_back({.kind = "l", .device_kind = "", .time_ns_by_size = {{0, 7}}});
  spec.run_times.push_back({.kind = "m", .device_kind = "", .time_ns_by_size = {{1, 7}, {2, 9}}});
  spec.efficiencies.push_back({.kind = "n", .device_kind = "gpu", .efficiency = 0.25});
  spec.demands.push_back({.kind = "n",
                          .device_kind = "gpu",
                          .share = 0.5,
                          .cache_bytes_per_s = 1,
                          .memory_bytes_per_s = 2,
                          .host_read_bytes_per_s = 3,
                          .host_write_bytes_per_s = 4,
                          .proxy = 0.25});
  spec.kind_noise.push_back(
      {.kind = "l", .noise = {.model = NoiseSpec::Model::student_t, .spread = 0.2, .freedom = 5}});
  spec.transfer_noise = {.model = NoiseSpec::Model::log_normal, .spread = 0.125};
  spec.calibration = {.machine = "m \"1\"",
                      .machine_fingerprint = 0xfedcba9876543210,
                      .graphs = {1, 2},
                      .drift = {"matmul on gpu got 1.4 times slower"}};
  spec.validation = {.graphs = 3,
                     .plans = 200,
                     .rank_correlation = 0.95,
                     .rank_correlation_better_half = 0.7,
                     .mean_error = 0.05,
                     .top1_regret = 0.01};
  return spec;
}

TEST(CostsFile, IsReadBackAsItWasWritten) {
  const CostSpec spec = every_part();
  std::vector<std::string> texts = {costs_to_json(spec)};
  if (can_read_toml()) texts.push_back(costs_to_toml(spec));
  for (const std::string& text : texts) {
    Source source = Source::from_text("c", text);
    const CostSpec read = must(read_costs(source));
    EXPECT_EQ(costs_to_json(read), texts[0]) << text;
    ASSERT_EQ(read.op_times.size(), 2u);
    EXPECT_EQ(read.op_times[0].op, "layer \"1\"");
    EXPECT_EQ(read.op_times[1].spread, 0.25);
    ASSERT_EQ(read.run_times.size(), 4u);
    EXPECT_EQ(read.run_times[1].points[0].work, spec.run_times[1].points[0].work);
    EXPECT_EQ(read.calibration->graphs, spec.calibration->graphs);
    EXPECT_EQ(read.calibration->machine_fingerprint, spec.calibration->machine_fingerprint);
    EXPECT_EQ(read.validation->mean_error, 0.05);
    ASSERT_EQ(read.demands.size(), 1u);
    EXPECT_EQ(read.demands[0].host_write_bytes_per_s, 4);
    EXPECT_EQ(read.demands[0].proxy, 0.25);
  }
}

TEST(CostsFile, RefusesWrongPoints) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("run_time":[{"kind":"a","points":[[1,2,3]]}])", "list of [flops"},
      {R"("run_time":[{"kind":"a","points":[[1,2,3,0,0,1]]}])", "time_ns"},
      {R"("run_time":[{"kind":"a","time_ns":1,"variant":"x"}])", "\"points\" alone"},
      {R"("run_time":[{"kind":"a","time_ns":1,"points":[[1,2,3,4,0,1]]}])", "needs either"},
      {R"("calibration":{"graphs":["12"]})", "16 hexadecimal"},
      {R"("validation":{"graphs":1,"plans":2})", "rank_correlation"},
  };
  for (const auto& [text, part] : cases) {
    Source source =
        Source::from_text("costs.json", std::string(R"({"schema_version":1,)") + text + "}");
    const Result<CostSpec> spec = read_costs(source);
    ASSERT_FALSE(spec) << text;
    EXPECT_NE(spec.error().message.find(part), std::string::npos) << spec.error().message;
  }
}

TEST(CostsFile, RefusesMorePointsThanCanBeFactorised) {
  CostSpec spec;
  spec.run_times.push_back({.kind = "k", .device_kind = ""});
  for (size_t i = 0; i <= kMostPoints; ++i) {
    spec.run_times[0].points.push_back(point(1 + static_cast<double>(i), 0, 5));
  }
  Source source = Source::from_text("c", costs_to_json(spec));
  const Result<CostSpec> read = read_costs(source);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("more than 256 points"), std::string::npos);
}

}  // namespace
}  // namespace tutti
