#include "tutti/belief/belief.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "tutti/belief/constants_file.h"
#include "tutti/belief/fit.h"
#include "tutti/belief/relation.h"
#include "tutti/belief/testing.h"
#include "tutti/machine/preset.h"

namespace tutti {
namespace {

Machine preset(const std::string& name) {
  auto machine = load_machine(name);
  EXPECT_TRUE(machine) << machine.error().message;
  return std::move(*machine);
}

ChannelId channel(const Machine& machine, const std::string& name) {
  for (int32_t i = 0; i < machine.channel_count(); ++i) {
    if (machine.channel(ChannelId{i}).name == name) return ChannelId{i};
  }
  ADD_FAILURE() << "no channel " << name;
  return {};
}

Counter traffic_of(const Machine& machine, const std::string& name) {
  return {name, "B/s", resource_of(channel(machine, name)), Quantity::traffic};
}
Counter waiting_of(const Machine& machine, const std::string& name) {
  return {name + ".waiting", "share", resource_of(channel(machine, name)), Quantity::waiting};
}

// The belief's mean of the resource of that name.
double mean_of(const Belief& belief, const Inferred& inferred, const std::string& name) {
  for (size_t r = 0; r < belief.resources().size(); ++r) {
    if (belief.resources()[r].name == name) return inferred.mean[r];
  }
  ADD_FAILURE() << "no resource " << name;
  return 0;
}

TEST(MachineNetwork, HasAVariableForEverySharedResource) {
  const Machine machine = preset("p100-4");
  const Belief belief(machine, {});
  std::map<std::string, int> classes;
  for (const Believed& item : belief.resources())
    ++classes[item.name.substr(0, item.name.find('['))];
  EXPECT_EQ(classes["link"], 8);  // two directions of four links; that to the host has no limit
  EXPECT_EQ(classes["switch"], 1);
  EXPECT_EQ(classes["root"], 1);
  EXPECT_EQ(classes["device"], 4);
}

TEST(MachineNetwork, EveryPresetHasOneAndEverythingInItIsFinite) {
  for (const Preset& listed : machine_presets()) {
    const std::string name = listed.name == "uniform-N" ? "uniform-3" : listed.name;
    if (name.starts_with("this-host")) continue;
    const Machine machine = preset(name);
    const Belief belief(machine, {});
    const auto constants = belief.network().start();
    const Inferred inferred = belief.infer(constants, {}, {.samples = 64});
    const std::vector<double> ones(belief.resources().size(), 1.0);
    for (const double mean : inferred.mean) EXPECT_TRUE(std::isfinite(mean)) << name;
    for (const double slope : belief.backward(inferred, ones, ones))
      EXPECT_TRUE(std::isfinite(slope)) << name;
  }
}

TEST(MachineNetwork, SeveralHostsHaveAnInterconnectOfTheirOwn) {
  const Machine machine = preset("cluster-2x4");
  const Belief belief(machine, {});
  EXPECT_EQ(std::count_if(belief.resources().begin(), belief.resources().end(),
                          [](const Believed& item) { return item.name == "interconnect"; }),
            1);
}

TEST(MachineNetwork, CoresAndThresholdsAreUnrolled) {
  MachineSpec spec{.name = "sixteen"};
  spec.devices.push_back(
      {.device = {.name = "cpu", .kind = "cpu", .units = 16, .bytes_per_s = 1e11},
       .uses_host_memory = true});
  auto machine = Machine::build(std::move(spec));
  ASSERT_TRUE(machine) << machine.error().message;
  std::vector<Counter> counters;
  for (const int threshold : {1, 4, 16}) {
    counters.push_back({"outstanding", "share", resource_of(machine->host_memory()),
                        Quantity::outstanding, threshold});
  }
  const Belief belief(*machine, counters);
  // Three for each core, its CPU and what it is asked, three thresholds, dram, load with its two
  // roots, and the memory.
  EXPECT_EQ(belief.network().size(), 16 * 3 + 2 + 3 + 1 + 3 + 1);
}

TEST(Belief, LaunchedOpsRaiseWhatCountersHaveNotSeenYet) {
  const Machine machine = preset("p100-4");
  const std::vector<Counter> counters{traffic_of(machine, "gpu0-pcie>")};
  const Belief belief(machine, counters);
  const auto constants = belief.network().start();
  const Observation before{{{.mean = 3e9, .spread = 1e8, .count = 8}}};
  Observation after = before;
  after.launched.push_back({resource_of(channel(machine, "gpu0-pcie>")), 6e9, 0});
  const SampleOptions options{.samples = 1024};
  const Inferred low = belief.infer(constants, before, options);
  const Inferred high = belief.infer(constants, after, options);
  EXPECT_NEAR(mean_of(belief, low, "link[gpu0-pcie>]"), 0.25, 0.02);
  EXPECT_NEAR(mean_of(belief, high, "link[gpu0-pcie>]"), 0.75, 0.03);
  EXPECT_GT(mean_of(belief, high, "switch[bridge]"), mean_of(belief, low, "switch[bridge]") + 0.05);
}

TEST(Belief, WaitingTellsAboutALinkThatNobodyCounts) {
  const Machine machine = preset("p100-4");
  const std::vector<Counter> counters{waiting_of(machine, "bridge")};
  const Belief belief(machine, counters);
  const auto constants = belief.network().start();
  const auto at = [&](double waiting) {
    const Inferred inferred = belief.infer(
        constants, {{{.mean = waiting, .spread = 0.05, .count = 8}}}, {.samples = 4096});
    return std::pair(mean_of(belief, inferred, "switch[bridge]"),
                     mean_of(belief, inferred, "link[gpu2-pcie>]"));
  };
  EXPECT_NEAR(at(0.25).first, 0.5, 0.1);
  EXPECT_NEAR(at(0.9).first, 0.95, 0.1);
  EXPECT_GT(at(0.9).second, at(0.25).second);  // upwards, to what must have caused it
}

TEST(Belief, SameSeedSameNumbersWithAnyNumberOfThreads) {
  const Machine machine = preset("p100-4");
  const std::vector<Counter> counters{waiting_of(machine, "bridge")};
  const Belief belief(machine, counters);
  const auto constants = belief.network().start();
  const Observation observation{{{.mean = 0.6, .spread = 0.1, .count = 8}}};
  const Inferred one = belief.infer(constants, observation, {.samples = 300, .seed = 9});
  const Inferred two =
      belief.infer(constants, observation, {.samples = 300, .seed = 9, .threads = 3});
  EXPECT_EQ(one.mean, two.mean);
  EXPECT_EQ(one.spread, two.spread);
  const std::vector<double> ones(belief.resources().size(), 1.0);
  EXPECT_EQ(belief.backward(one, ones), belief.backward(two, ones, {}, GradientKind::sampling, 3));
}

// The two gradients share samples but no formula. How far the sampling gradient may be off is
// estimated from repetitions: score functions of relations with little noise swing widely, so with
// a bound of our choosing the test would say more about their swing than about the gradient.
void expect_gradients_agree(const Belief& belief, const Observation& observation) {
  const auto constants = belief.network().start();
  std::vector<double> by_mean;
  for (size_t r = 0; r < belief.resources().size(); ++r)
    by_mean.push_back(1 + 0.2 * static_cast<double>(r));
  constexpr int kRuns = 20;
  const size_t count = constants.size();
  std::vector<double> sampled(count, 0.0);
  std::vector<double> path(count, 0.0);
  std::vector<double> squares(count, 0.0);  // of their differences
  for (uint64_t run = 1; run <= kRuns; ++run) {
    const Inferred inferred = belief.infer(constants, observation, {.samples = 10240, .seed = run});
    const auto some = belief.backward(inferred, by_mean);
    const auto same = belief.backward(inferred, by_mean, {}, GradientKind::path);
    for (size_t k = 0; k < count; ++k) {
      sampled[k] += some[k] / kRuns;
      path[k] += same[k] / kRuns;
      squares[k] += (some[k] - same[k]) * (some[k] - same[k]);
    }
  }
  std::vector<double> clear_sampled;
  std::vector<double> clear_path;
  for (size_t k = 0; k < count; ++k) {
    const double off = sampled[k] - path[k];
    const double variance = (squares[k] - kRuns * off * off) / (kRuns - 1);
    const double error = std::sqrt(std::max(0.0, variance) / kRuns);
    // |t| of 19 degrees of freedom is above 4.5 once in 4000 times.
    EXPECT_LE(std::fabs(off), 4.5 * error + 1e-9) << belief.network().constants()[k].name;
    if (std::fabs(path[k]) < 10 * error) continue;
    clear_sampled.push_back(sampled[k]);
    clear_path.push_back(path[k]);
  }
  EXPECT_GE(clear_path.size(), 3U);
  EXPECT_GT(testing::cosine(clear_sampled, clear_path), 0.99);
}

TEST(Belief, BothGradientsOfAMachineAgree) {
  const Machine machine = preset("cpu-gpu");
  const DeviceId cpu = *machine.find_device("cpu");
  const DeviceId gpu = *machine.find_device("gpu");
  const std::vector<Counter> counters{
      traffic_of(machine, "pcie>"),
      traffic_of(machine, "pcie<"),
      waiting_of(machine, "pcie>"),
      {"memory", "B/s", resource_of(machine.host_memory()), Quantity::traffic},
      {"core", "share", core_of(cpu, 0), Quantity::busy},
      {"gpu", "share", resource_of(gpu), Quantity::busy}};
  expect_gradients_agree(Belief(machine, counters), {{{.mean = 6e9, .spread = 1e9, .count = 8},
                                                      {.mean = 4e9, .spread = 1e9, .count = 8},
                                                      {.mean = 0.3, .spread = 0.1, .count = 8},
                                                      {.mean = 5e10, .spread = 1e10, .count = 8},
                                                      {.mean = 0.6, .spread = 0.1, .count = 8},
                                                      {.mean = 0.4, .spread = 0.1, .count = 8}}});
}

TEST(Belief, BothGradientsAgreeWhereLittleIsCounted) {
  const Machine machine = preset("cpu-gpu");
  const std::vector<Counter> one{waiting_of(machine, "pcie>")};
  expect_gradients_agree(Belief(machine, one), {{{.mean = 0.6, .spread = 0.1, .count = 8}}});
  const Machine four = preset("p100-4");
  const std::vector<Counter> two{waiting_of(four, "bridge"), traffic_of(four, "gpu0-pcie>")};
  expect_gradients_agree(Belief(four, two), {{{.mean = 0.5, .spread = 0.1, .count = 8},
                                              {.mean = 3e9, .spread = 1e8, .count = 8}}});
}

// A link that carries only 0.7 of what the machine's file says, seen through what transfers wait.
TEST(Fit, FindsAPlantedCapacity) {
  constexpr double kPlanted = 0.7;
  const Machine machine = preset("cpu-gpu");
  const std::vector<Counter> counters{traffic_of(machine, "pcie>"), waiting_of(machine, "pcie>")};
  const Belief belief(machine, counters);
  Rng rng(4);
  std::vector<Observation> observations;
  for (int i = 0; i < 48; ++i) {
    const double share = rng.uniform();
    const double waiting = std::pow(saturate(share / kPlanted), 3);
    observations.push_back({{{.mean = share * 12e9 + 1e8 * rng.normal(), .spread = 3e8, .count = 8},
                             {.mean = waiting + 0.01 * rng.normal(), .spread = 0.03, .count = 8}}});
  }
  const auto fitted = fit_constants(belief, belief.network().start(), observations,
                                    {.passes = 20, .rate = 0.05, .sampling = {.samples = 64}});
  const auto natural = belief.network().natural(fitted);
  for (size_t k = 0; k < natural.size(); ++k) {
    if (belief.network().constants()[k].name != "capacity.pcie>") continue;
    EXPECT_NEAR(natural[k], kPlanted, 0.1 * kPlanted);
    return;
  }
  ADD_FAILURE() << "no capacity";
}

TEST(ConstantsFile, ComesBackAndRefusesAnotherMachine) {
  const Belief belief(preset("cpu-gpu"), {});
  std::vector<double> raw = belief.network().start();
  raw[0] = 0.5;
  TensorFile file;
  store_constants(belief.network(), raw, file);
  Source source = Source::from_text("x", tensors_to_bytes(file));
  const auto read = read_tensors(source);
  ASSERT_TRUE(read) << read.error().message;
  const auto back = load_constants(belief.network(), *read, "x");
  ASSERT_TRUE(back) << back.error().message;
  for (size_t k = 0; k < raw.size(); ++k) EXPECT_NEAR((*back)[k], raw[k], 1e-6);
  const Belief other(preset("p100-4"), {});
  const auto refused = load_constants(other.network(), *read, "x");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("another machine"), std::string::npos);
  EXPECT_FALSE(load_constants(belief.network(), {}, "x"));
}

}  // namespace
}  // namespace tutti
