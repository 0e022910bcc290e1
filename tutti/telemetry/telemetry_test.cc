#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "tutti/machine/preset.h"
#include "tutti/telemetry/available.h"
#include "tutti/telemetry/kernel_file.h"
#include "tutti/telemetry/sampler.h"
#include "tutti/telemetry/simulated.h"

namespace tutti {
namespace {

Machine machine_of(const std::string& name) {
  auto machine = load_machine(name);
  EXPECT_TRUE(machine) << machine.error().message;
  return std::move(*machine);
}

std::map<std::string, double> read_once(CounterSource& source) {
  std::vector<double> values(source.counters().size());
  source.read(values);
  std::map<std::string, double> by_name;
  for (size_t i = 0; i < values.size(); ++i) by_name[source.counters()[i].name] = values[i];
  return by_name;
}

TEST(Sampler, SaysWhatItsReadingsHaveInCommon) {
  auto owned = std::make_unique<SimulatedSource>(
      std::vector<Counter>{{.name = "a", .unit = "share"}, {.name = "b", .unit = "share"}});
  SimulatedSource& source = *owned;
  std::vector<std::unique_ptr<CounterSource>> sources;
  sources.push_back(std::move(owned));
  Sampler sampler(std::move(sources));
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {1.0, 2.0, 3.0, 4.0}) {
    source.push({value, value == 3.0 ? 7.0 : unknown});
    sampler.sample();
  }
  const auto readings = sampler.take();
  EXPECT_DOUBLE_EQ(readings[0].mean, 2.5);
  EXPECT_DOUBLE_EQ(readings[0].spread, std::sqrt(5.0 / 3));
  EXPECT_EQ(readings[0].count, 4);
  EXPECT_DOUBLE_EQ(readings[1].mean, 7);
  EXPECT_EQ(readings[1].count, 1);
  EXPECT_EQ(sampler.take()[0].count, 0);  // it forgets
}

TEST(Sampler, KeepsTheSpreadOfLargeNumbersThatAreAlike) {
  auto owned = std::make_unique<SimulatedSource>(std::vector<Counter>{{.name = "a", .unit = "B"}});
  SimulatedSource& source = *owned;
  std::vector<std::unique_ptr<CounterSource>> sources;
  sources.push_back(std::move(owned));
  Sampler sampler(std::move(sources));
  for (const double value : {1e15 + 1, 1e15 + 2, 1e15 + 3}) {
    source.push({value});
    sampler.sample();
  }
  EXPECT_DOUBLE_EQ(sampler.take()[0].spread, 1);
}

// A host made of files, and a clock that is turned by hand.
class ProcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "/proc_test_" + std::to_string(getpid());
    put("/proc/stat", "cpu  0 0 0 0\ncpu0 100 0 0 100 0 0 0 0 0 0\nctxt 1000\n");
    put("/proc/vmstat", "nr_free 3\npgfault 500\npgmajfault 5\n");
    put("/proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 50 kB\n");
    put("/proc/net/dev",
        "Inter-|   Receive\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0: 1000 0 0 0 0 0 0 0 "
        "2000 0\n");
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/cpu.stat", "usage_usec 1000000\n");
    put("/sys/fs/cgroup/memory.current", "4096\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  Clock clock() {
    return [this] { return now_; };
  }

  std::string root_;
  Duration now_ = std::chrono::seconds(10);
};

TEST_F(ProcTest, ReadsSharesAndRatesSinceTheLastTime) {
  auto source = make_proc_source(machine_of("cpu-gpu"), clock(), root_);
  ASSERT_TRUE(source) << source.error().message;
  now_ += std::chrono::seconds(2);
  put("/proc/stat", "cpu  0 0 0 0\ncpu0 130 0 0 110 0 0 0 0 0 0\nctxt 1600\n");
  put("/proc/vmstat", "pgfault 520\npgmajfault 5\n");
  put("/proc/net/dev", "h\nh\n  eth0: 1000 0 0 0 0 0 0 0 6000 0\n");
  put("/sys/fs/cgroup/cpu.stat", "usage_usec 2000000\n");
  const auto values = read_once(**source);
  EXPECT_DOUBLE_EQ(values.at("context_switches"), 300);
  EXPECT_DOUBLE_EQ(values.at("page_faults"), 10);
  EXPECT_DOUBLE_EQ(values.at("eth0.received"), 0);
  EXPECT_DOUBLE_EQ(values.at("eth0.sent"), 2000);
  EXPECT_DOUBLE_EQ(values.at("memory_available"), 51200);
  EXPECT_DOUBLE_EQ(values.at("cgroup.cpu"), 0.5);
  EXPECT_DOUBLE_EQ(values.at("cgroup.memory"), 4096);
  EXPECT_FALSE(values.contains("lo.sent"));
  // Only if this process may run on processor 0, which is the one the files know.
  const auto core = values.find("cpu.core0.busy");
  ASSERT_NE(core, values.end());
  EXPECT_TRUE(std::isnan(core->second) || std::fabs(core->second - 0.75) < 1e-12);
}

TEST_F(ProcTest, LinesAreFoundByTheirWholeName) {
  put("/file", "fault_extra 7\nfault 5\nwith: 12 kB\nword many\n");
  KernelFile file(root_ + "/file");
  file.read();
  EXPECT_EQ(file.value_of("fault"), 5.0);
  EXPECT_EQ(file.value_of("with"), 12.0);
  EXPECT_FALSE(file.value_of("word"));
  EXPECT_FALSE(file.value_of("absent"));
  EXPECT_FALSE(file.number());
  put("/file", "42\n");
  file.read();
  EXPECT_EQ(file.number(), 42.0);
  put("/file", std::string(3 << 20, '1'));  // longer than anybody should read
  for (int i = 0; i < 3; ++i) {
    file.read();
    EXPECT_EQ(file.text().size(), KernelFile::kMostBytes);
  }
  std::filesystem::remove(root_ + "/file");
  file.read();
  EXPECT_TRUE(file.text().empty());
}

TEST_F(ProcTest, TakesCgroupsOfVersionOneToo) {
  std::filesystem::remove_all(root_ + "/sys");
  put("/sys/fs/cgroup/cpuacct/cpuacct.usage", "5000000000\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "8192\n");
  auto source = make_proc_source(machine_of("cpu-gpu"), clock(), root_);
  ASSERT_TRUE(source) << source.error().message;
  now_ += std::chrono::seconds(2);
  put("/sys/fs/cgroup/cpuacct/cpuacct.usage", "8000000000\n");
  const auto values = read_once(**source);
  EXPECT_DOUBLE_EQ(values.at("cgroup.cpu"), 1.5);
  EXPECT_DOUBLE_EQ(values.at("cgroup.memory"), 8192);
}

TEST_F(ProcTest, HasNothingToSayIfNoTickHasPassedOrAFileHasGone) {
  auto source = make_proc_source(machine_of("cpu-gpu"), clock(), root_);
  ASSERT_TRUE(source) << source.error().message;
  std::filesystem::remove(root_ + "/proc/vmstat");
  const auto values = read_once(**source);
  EXPECT_TRUE(std::isnan(values.at("cpu.core0.busy")));
  EXPECT_TRUE(std::isnan(values.at("page_faults")));
  EXPECT_TRUE(std::isnan(values.at("context_switches")));
}

TEST_F(ProcTest, ListsOnlyWhatThereIs) {
  std::filesystem::remove_all(root_ + "/sys");
  std::filesystem::remove(root_ + "/proc/net/dev");
  auto source = make_proc_source(machine_of("cpu-gpu"), clock(), root_);
  ASSERT_TRUE(source) << source.error().message;
  for (const Counter& counter : (*source)->counters()) {
    EXPECT_FALSE(counter.name.starts_with("cgroup")) << counter.name;
    EXPECT_FALSE(counter.name.starts_with("eth0")) << counter.name;
  }
  EXPECT_FALSE(make_proc_source(machine_of("cpu-gpu"), clock(), root_ + "/nowhere"));
}

TEST(Rusage, SeesTheWorkOfItsThread) {
  const auto source = make_rusage_source(RusageOf::thread, "worker", {}, steady_time);
  const Duration begin = steady_time();
  double sum = 0;
  int64_t rounds = 0;
  timespec used{};
  const auto cpu_seconds = [&] {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
  };
  const double first = cpu_seconds();
  while (cpu_seconds() - first < 0.05) sum += std::sqrt(static_cast<double>(++rounds));
  EXPECT_GT(sum, 0);
  const double wall = std::chrono::duration<double>(steady_time() - begin).count();
  const double share = read_once(*source).at("worker.cpu");
  EXPECT_GT(share * wall, 0.02);
  EXPECT_LT(share, 1.5);
}

TEST(Nvml, ReadsAGpuByItsPciId) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::string library = (folder / "libfake_nvml.so").string();
  const Machine machine = machine_of("cpu-gpu");
  auto source = make_nvml_source(machine, {"0000:3B:00.0"}, library);
  ASSERT_TRUE(source) << source.error().message;
  const auto values = read_once(**source);
  EXPECT_DOUBLE_EQ(values.at("gpu.memory.busy"), 0.25);
  EXPECT_GE(values.at("gpu.busy"), 0.4);
  EXPECT_DOUBLE_EQ(values.at("gpu.memory.free"), 600);
  EXPECT_DOUBLE_EQ(values.at("gpu.received"), 2e6);
  EXPECT_DOUBLE_EQ(values.at("gpu.sent"), 1e6);
  EXPECT_DOUBLE_EQ(values.at("gpu.clock"), 1.5e9);
  EXPECT_FALSE(values.contains("gpu.power"));  // it does not tell
  // pcie joins host and gpu in this order, so ">" is what the GPU receives.
  for (const Counter& counter : (*source)->counters()) {
    if (counter.quantity != Quantity::traffic) continue;
    EXPECT_EQ(resource_name(machine, counter.resource),
              counter.name == "gpu.received" ? "pcie>" : "pcie<");
  }
}

TEST(Nvml, SaysWhyThereIsNone) {
  const Machine machine = machine_of("cpu-gpu");
  const auto none = make_nvml_source(machine, {"0000:3B:00.0"}, "libno-such-library.so");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("there is no"), std::string::npos);
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto other =
      make_nvml_source(machine, {"0000:99:00.0"}, (folder / "libfake_nvml.so").string());
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("none of the machine's GPUs"), std::string::npos);
}

// Which sources a host has is its own affair; that each either counts or says why not is ours.
TEST(Available, EverySourceCountsOrSaysWhyNot) {
  const Machine machine = machine_of("this-host");
  for (AvailableSource& item : available_sources(machine)) {
    if (item.source == nullptr) {
      EXPECT_FALSE(item.why_not.empty()) << item.name;
      continue;
    }
    EXPECT_FALSE(item.source->counters().empty()) << item.name;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (const auto& [name, value] : read_once(*item.source))
      EXPECT_TRUE(std::isnan(value) || value >= 0) << item.name << " " << name << " " << value;
  }
}

}  // namespace
}  // namespace tutti
