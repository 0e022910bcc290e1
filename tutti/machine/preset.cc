#include "tutti/machine/preset.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "tutti/base/file/source.h"
#include "tutti/base/suggest.h"
#include "tutti/machine/discover.h"
#include "tutti/machine/file.h"
#include "tutti/machine/spec.h"

namespace tutti {
namespace {

using DeviceSpec = MachineSpec::DeviceSpec;
using std::chrono::microseconds;

constexpr double kGB = 1e9;

// PCIe 3.0 x16 as copies see it: about 12 of its nominal 15.75 GB/s each way. Two of these links
// make one way from device to device, so each has half of the usual 10 us.
constexpr double kPcieBytesPerS = 12 * kGB;
constexpr microseconds kPcieLatency{5};
// A root complex that carries two such copies at full speed.
constexpr double kBridgeBytesPerS = 24 * kGB;
// From the call to the start of a kernel, as CUDA programs commonly see it.
constexpr microseconds kLaunchOverhead{10};

// Peak rates and memory from NVIDIA's data sheets (P100 for PCIe, 16 GB; V100 SXM2, 32 GB).
DeviceSpec p100(std::string name) {
  return {.device = {.name = std::move(name),
                     .kind = "gpu",
                     .flops_per_s = 9.3e12,
                     .flops_per_s_by_dtype = {{"f16", 18.7e12}, {"f64", 4.7e12}},
                     .bytes_per_s = 732 * kGB,
                     .launch_overhead = kLaunchOverhead},
          .memory_bytes = 16'000'000'000,
          .copy_engines = 2};
}

// A V100 has more copy engines than links that could keep them busy, so none is modelled.
DeviceSpec v100(std::string name) {
  return {.device = {.name = std::move(name),
                     .kind = "gpu",
                     .flops_per_s = 15.7e12,
                     .flops_per_s_by_dtype = {{"f16", 125e12}, {"f64", 7.8e12}},
                     .bytes_per_s = 900 * kGB,
                     .launch_overhead = kLaunchOverhead},
          .memory_bytes = 32'000'000'000};
}

DeviceSpec cpu(double flops_per_s) {
  return {.device = {.name = "cpu",
                     .kind = "cpu",
                     .flops_per_s = flops_per_s,
                     .bytes_per_s = 100 * kGB,
                     .launch_overhead = microseconds(1)},
          .uses_host_memory = true};
}

void add_bridge(MachineSpec& spec, const std::string& name, const std::string& host) {
  spec.switches.push_back({.name = name, .bytes_per_s = kBridgeBytesPerS});
  spec.links.push_back({.name = host + "-" + name,
                        .ends = {host, name},
                        .latency = kPcieLatency,
                        .sharing = Sharing::unlimited});
}

void add_behind_bridge(MachineSpec& spec, const std::string& bridge, DeviceSpec device) {
  const std::string name = device.device.name;
  spec.devices.push_back(std::move(device));
  spec.links.push_back({.name = name + "-pcie",
                        .ends = {name, bridge},
                        .latency = kPcieLatency,
                        .bytes_per_s = kPcieBytesPerS});
}

MachineSpec uniform(int count) {
  MachineSpec spec{.hosts = {{.name = "host"}}, .switches = {{.name = "switch"}}};
  const auto connect = [&](const std::string& name) {
    spec.links.push_back({.name = name + "-switch",
                          .ends = {name, "switch"},
                          .bytes_per_s = 10 * kGB,
                          .sharing = Sharing::unlimited});
  };
  connect("host");
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("device{}", i);
    spec.devices.push_back({.device = {.name = name, .kind = "device", .flops_per_s = 1e12}});
    connect(name);
  }
  return spec;
}

MachineSpec p100_4() {
  MachineSpec spec{.hosts = {{.name = "host"}}};
  add_bridge(spec, "bridge", "host");
  for (int i = 0; i < 4; ++i) add_behind_bridge(spec, "bridge", p100(fmt::format("gpu{}", i)));
  return spec;
}

// The hybrid cube mesh of a DGX-1 with V100: which GPUs have NVLink, and how many bricks, as
// `nvidia-smi topo -m` shows it there. A brick carries 25 GB/s each way.
struct NvLink {
  int first;
  int second;
  int bricks;
};
constexpr std::array<NvLink, 16> kCubeMesh = {{{0, 1, 1},
                                               {0, 2, 1},
                                               {0, 3, 2},
                                               {0, 4, 2},
                                               {1, 2, 2},
                                               {1, 3, 1},
                                               {1, 5, 2},
                                               {2, 3, 2},
                                               {2, 6, 1},
                                               {3, 7, 1},
                                               {4, 5, 1},
                                               {4, 6, 1},
                                               {4, 7, 2},
                                               {5, 6, 2},
                                               {5, 7, 1},
                                               {6, 7, 2}}};

MachineSpec v100_8_nvlink() {
  MachineSpec spec{.hosts = {{.name = "host"}}};
  for (const std::string bridge : {"bridge0", "bridge1"}) add_bridge(spec, bridge, "host");
  // Two sockets joined by QPI at 9.6 GT/s, two bytes each way per transfer.
  spec.links.push_back({.name = "bridge0-bridge1",
                        .ends = {"bridge0", "bridge1"},
                        .latency = microseconds(1),
                        .bytes_per_s = 19.2 * kGB,
                        .sharing = Sharing::shared});
  for (int i = 0; i < 8; ++i) {
    add_behind_bridge(spec, i < 4 ? "bridge0" : "bridge1", v100(fmt::format("gpu{}", i)));
  }
  for (const NvLink& link : kCubeMesh) {
    spec.links.push_back(
        {.name = fmt::format("nvlink{}{}", link.first, link.second),
         .ends = {fmt::format("gpu{}", link.first), fmt::format("gpu{}", link.second)},
         .latency = kPcieLatency,
         .bytes_per_s = link.bricks * 25 * kGB});
  }
  return spec;
}

// 16 cores at 2 GHz with two AVX2 multiply-adds per cycle: 1.0e12 flop/s.
MachineSpec cpu_gpu() {
  MachineSpec spec{.hosts = {{.name = "host", .memory_bytes = 128'000'000'000}}};
  spec.devices.push_back(cpu(1.0e12));
  spec.devices.push_back(p100("gpu"));
  spec.links.push_back({.name = "pcie",
                        .ends = {"host", "gpu"},
                        .latency = 2 * kPcieLatency,
                        .bytes_per_s = kPcieBytesPerS});
  return spec;
}

// Two devices at full speed, two at half of every rate, and a CPU at a twentieth.
MachineSpec mixed_5() {
  MachineSpec spec{.hosts = {{.name = "host", .memory_bytes = 128'000'000'000}}};
  add_bridge(spec, "bridge", "host");
  for (const std::string name : {"fast0", "fast1"}) add_behind_bridge(spec, "bridge", p100(name));
  for (const std::string name : {"slow0", "slow1"}) {
    DeviceSpec half = p100(name);
    half.device.kind = "slow-gpu";
    half.device.flops_per_s /= 2;
    half.device.bytes_per_s /= 2;
    for (auto& [dtype, flops_per_s] : half.device.flops_per_s_by_dtype) flops_per_s /= 2;
    add_behind_bridge(spec, "bridge", std::move(half));
  }
  spec.devices.push_back(cpu(p100("fast").device.flops_per_s / 20));
  return spec;
}

// One H200 cut into 64, 32, 16 and 16 of its 132 SMs (green contexts), measured with CUDA 13 on
// driver 580. A 4096^3 fp32 product takes 5.44, 10.96, 22.48 and 22.42 ms, alone or together.
// Values go through pinned host memory: 64 MiB take 2.44 ms in two hops, 2.88 ms with two such
// transfers at once and 5.52 ms with four. 55.5 GB/s per device and direction and 96 GB/s for all
// together give 2.44, 2.82 and 5.61 ms. Memory and its bandwidth (141 GB, 4.8 TB/s) are shared by
// all in truth and divided by SMs here; latency and launch overhead are assumed.
MachineSpec h200_split() {
  MachineSpec spec{.hosts = {{.name = "host", .memory_bytes = 128'000'000'000}}};
  spec.switches.push_back({.name = "staging", .bytes_per_s = 96 * kGB});
  spec.links.push_back(
      {.name = "host-staging", .ends = {"host", "staging"}, .sharing = Sharing::unlimited});
  struct Part {
    const char* name;
    int sms;
    double product_ms;
  };
  constexpr std::array<Part, 4> kParts = {
      {{"sm64", 64, 5.44}, {"sm32", 32, 10.96}, {"sm16a", 16, 22.48}, {"sm16b", 16, 22.42}}};
  constexpr double kProductFlops = 2.0 * 4096 * 4096 * 4096;
  for (const Part& part : kParts) {
    const std::string name = part.name;
    const int64_t bytes = 141'000'000'000 / 128 * part.sms;
    spec.devices.push_back({.device = {.name = name,
                                       .kind = fmt::format("h200-sm{}", part.sms),
                                       .flops_per_s = kProductFlops / (part.product_ms * 1e-3),
                                       .bytes_per_s = 4800 * kGB / 132 * part.sms,
                                       .launch_overhead = kLaunchOverhead},
                            .memory_bytes = bytes});
    spec.links.push_back({.name = name + "-pcie",
                          .ends = {name, "staging"},
                          .latency = 2 * kPcieLatency,
                          .bytes_per_s = 55.5 * kGB});
  }
  // The shortest path would go from device to device without touching the host's memory.
  for (const Part& from : kParts) {
    for (const Part& to : kParts) {
      if (&from == &to) continue;
      spec.routes.push_back({.from = from.name,
                             .to = to.name,
                             .hops = {{fmt::format("{}-pcie", from.name), "host-staging"},
                                      {"host-staging", fmt::format("{}-pcie", to.name)}}});
    }
  }
  return spec;
}

MachineSpec cluster_2x4() {
  MachineSpec spec{.hosts = {{.name = "host0"}, {.name = "host1"}}};
  for (int h = 0; h < 2; ++h) {
    const std::string host = fmt::format("host{}", h);
    const std::string bridge = fmt::format("bridge{}", h);
    add_bridge(spec, bridge, host);
    for (int i = 0; i < 4; ++i) {
      DeviceSpec device = p100(fmt::format("gpu{}", 4 * h + i));
      device.host = host;
      add_behind_bridge(spec, bridge, std::move(device));
    }
  }
  // 25 Gbit/s Ethernet: 3 GB/s each way after framing.
  spec.links.push_back({.name = "network",
                        .ends = {"host0", "host1"},
                        .latency = microseconds(20),
                        .bytes_per_s = 3 * kGB,
                        .sharing = Sharing::shared});
  return spec;
}

struct NamedSpec {
  const char* name;
  const char* what;
  MachineSpec (*make)();
};
constexpr std::array<NamedSpec, 6> kPresets = {{
    {"p100-4", "four P100-like GPUs on one PCIe bridge of 24 GB/s", p100_4},
    {"v100-8-nvlink", "eight V100-like GPUs with the partial NVLink of a DGX-1", v100_8_nvlink},
    {"cpu-gpu", "one CPU with the host's memory and one P100-like GPU", cpu_gpu},
    {"mixed-5", "two fast GPUs, two at half speed and a CPU at a twentieth", mixed_5},
    {"h200-split", "one H200 as 64+32+16+16 SMs, transfers staged through the host", h200_split},
    {"cluster-2x4", "two hosts of four P100-like GPUs, 3 GB/s between them", cluster_2x4},
}};

constexpr std::string_view kUniform = "uniform-";
constexpr int kMostUniform = 1024;

// The N of "uniform-N", or 0 if the name is not of that form.
int uniform_count(std::string_view name) {
  if (name.substr(0, kUniform.size()) != kUniform) return 0;
  const char* end = name.data() + name.size();
  int count = 0;
  const auto [stop, error] = std::from_chars(name.data() + kUniform.size(), end, count);
  return error == std::errc() && stop == end && count <= kMostUniform ? count : 0;
}

Result<Machine> build_preset(std::string_view name, MachineSpec spec) {
  spec.name = name;
  return Machine::build(std::move(spec));
}

bool is_preset(std::string_view name) {
  if (name.substr(0, kUniform.size()) == kUniform) return true;
  for (const NamedSpec& preset : kPresets) {
    if (preset.name == name) return true;
  }
  return false;
}

}  // namespace

namespace {

constexpr std::string_view kThisHost = "this-host";

// "; did you mean 'p100-4'? known are: ...", for a name that is none.
std::string what_machines_there_are(std::string_view name) {
  std::vector<std::string> names;
  for (const NamedSpec& preset : kPresets) names.emplace_back(preset.name);
  names.emplace_back("uniform-4");
  names.emplace_back(kThisHost);
  const std::string meant = did_you_mean(name, names);
  std::string known = "uniform-N (N from 1 to 1024)";
  for (const NamedSpec& preset : kPresets) known += std::string(", ") + preset.name;
  return fmt::format("{} known are: {}, {}", meant.empty() ? ";" : meant, known, kThisHost);
}

// "this-host:4x2".
Result<Machine> load_groups(const std::string& name) {
  const char* begin = name.data() + kThisHost.size() + 1;
  const char* end = name.data() + name.size();
  int devices = 0;
  int cores = 0;
  const auto first = std::from_chars(begin, end, devices);
  bool good = first.ec == std::errc() && first.ptr != end && *first.ptr == 'x';
  if (good) {
    const auto second = std::from_chars(first.ptr + 1, end, cores);
    good = second.ec == std::errc() && second.ptr == end;
  }
  if (!good || devices < 1 || cores < 1 || devices > kMostSlots || cores > kMostSlots) {
    return invalid_input(fmt::format("machine '{}': after {}: come devices x cores, such as {}:2x1",
                                     name, kThisHost, kThisHost));
  }
  return discover_groups(devices, cores);
}

}  // namespace

std::vector<Preset> machine_presets() {
  std::vector<Preset> presets = {
      {"uniform-N", "N equal devices (1 to 1024) whose transfers never meet"}};
  for (const NamedSpec& preset : kPresets) presets.push_back({preset.name, preset.what});
  return presets;
}

Result<Machine> make_preset(std::string_view name) {
  if (const int count = uniform_count(name); count > 0) return build_preset(name, uniform(count));
  for (const NamedSpec& preset : kPresets) {
    if (preset.name == name) return build_preset(name, preset.make());
  }
  return invalid_input(
      fmt::format("there is no machine preset '{}'{}", name, what_machines_there_are(name)));
}

Result<Machine> load_machine(const std::string& name_or_path) {
  if (name_or_path == kThisHost) return discover_machine();
  if (name_or_path.starts_with("this-host:")) return load_groups(name_or_path);
  if (is_preset(name_or_path)) return make_preset(name_or_path);
  auto source = Source::open(name_or_path);
  if (!source) {
    return invalid_input(fmt::format("{}{}; or name a machine file", source.error().message,
                                     what_machines_there_are(name_or_path)));
  }
  return read_machine(*source);
}

Result<Machine> load_command_machine(const std::string& name_or_path) {
  return name_or_path == kThisHost ? discover_command_machine() : load_machine(name_or_path);
}

}  // namespace tutti
