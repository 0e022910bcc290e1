#include "tutti/plan/world/default_cluster.h"

#include <fmt/format.h>

#include <utility>

#include "tutti/base/check.h"

namespace tutti {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr double kGB = 1e9;

// Of one kind of op: milliseconds at the usual size on each kind of device (0: cannot run there),
// and what it draws there: shares, and GB/s.
struct KindRow {
  const char* kind;
  struct {
    double ms, core, memory, cache;
  } cpu;
  struct {
    double ms, share, read, write, proxy;
  } gpu;
  struct {
    double ms, read, write;
  } fpga;
};
constexpr KindRow kRows[] = {
    {"decode", {3, 0.8, 4, 15}, {}, {1, 4, 3}},
    {"lookup", {4, 0.35, 3, 4}, {5, 0.4, 1, 0.5, 0.1}, {}},
    {"extend", {12, 0.85, 1, 6}, {2.5, 0.9, 0.5, 0.2, 0.1}, {1.5, 1, 0.5}},
    {"sort", {6, 0.5, 18, 30}, {2, 0.6, 3, 3, 0.3}, {}},
    {"dedup", {4, 0.5, 15, 25}, {2.5, 0.5, 4, 2, 0.3}, {}},
    {"scan", {5, 0.4, 14, 12}, {1.5, 0.35, 8, 1, 0.4}, {2, 6, 1}},
    {"realign", {10, 0.8, 2, 10}, {3, 0.8, 1, 0.5, 0.1}, {2, 1, 0.5}},
    {"pair_hmm", {20, 0.95, 0.5, 4}, {2, 0.95, 0.5, 0.1, 0.1}, {1.5, 0.5, 0.1}},
    {"fft", {5, 0.8, 6, 15}, {0.8, 0.7, 2, 1, 0.2}, {1.2, 2, 1}},
    {"correlate", {6, 0.6, 16, 20}, {1.2, 0.8, 3, 1, 0.2}, {}},
    {"infer", {8, 0.7, 6, 12}, {2.5, 0.6, 1, 2, 0.2}, {3, 1, 1}},
    {"merge", {1.5, 0.5, 8, 12}, {}, {}},
};

void add_time(CostSpec& costs, const char* kind, const char* device, double ms) {
  constexpr double kUsualFlops = 1e6;
  costs.run_times.push_back(
      {.kind = kind, .device_kind = device, .time_ns_by_size = {{kUsualFlops, ms * 1e6}}});
}

void add_socket(MachineSpec& spec, int s) {
  const std::string host = fmt::format("socket{}", s);
  const auto name = [&](const char* what) { return fmt::format("{}{}", what, s); };
  spec.hosts.push_back(
      {.name = host, .root_bytes_per_s = 14 * kGB, .cache_bytes_per_s = 120 * kGB});
  spec.devices.push_back(
      {.device =
           {.name = name("cpu"), .kind = "cpu", .slots = 8, .units = 4, .bytes_per_s = 40 * kGB},
       .host = host,
       .uses_host_memory = true});
  spec.devices.push_back({.device = {.name = name("gpu"), .kind = "gpu", .slots = 2},
                          .host = host,
                          .proxy = name("cpu")});
  spec.devices.push_back({.device = {.name = name("fpga"),
                                     .kind = "fpga",
                                     .slots = 2,
                                     .contexts = 2,
                                     .reconfiguration_time = milliseconds(4)},
                          .host = host});
  spec.switches.push_back({.name = name("pcie"), .bytes_per_s = 12 * kGB});
  spec.links.push_back({.name = name("root"),
                        .ends = {host, name("pcie")},
                        .latency = microseconds(2),
                        .sharing = Sharing::unlimited});
  for (const char* device : {"gpu", "fpga"}) {
    spec.links.push_back({.name = fmt::format("{}{}-pcie", device, s),
                          .ends = {name(device), name("pcie")},
                          .latency = microseconds(3),
                          .bytes_per_s = 10 * kGB,
                          .sharing = Sharing::shared});
  }
}

}  // namespace

MachineSpec default_cluster_machine() {
  MachineSpec spec{.name = "sockets-2x3"};
  add_socket(spec, 0);
  add_socket(spec, 1);
  spec.links.push_back({.name = "sockets",
                        .ends = {"socket0", "socket1"},
                        .latency = microseconds(1),
                        .bytes_per_s = 16 * kGB,
                        .sharing = Sharing::shared});
  return spec;
}

CostSpec default_cluster_costs(double noise) {
  CostSpec costs;
  for (const KindRow& row : kRows) {
    add_time(costs, row.kind, "cpu", row.cpu.ms);
    costs.demands.push_back({.kind = row.kind,
                             .device_kind = "cpu",
                             .share = row.cpu.core,
                             .cache_bytes_per_s = row.cpu.cache * kGB,
                             .memory_bytes_per_s = row.cpu.memory * kGB});
    if (row.gpu.ms > 0) {
      add_time(costs, row.kind, "gpu", row.gpu.ms);
      costs.demands.push_back({.kind = row.kind,
                               .device_kind = "gpu",
                               .share = row.gpu.share,
                               .host_read_bytes_per_s = row.gpu.read * kGB,
                               .host_write_bytes_per_s = row.gpu.write * kGB,
                               .proxy = row.gpu.proxy});
    }
    if (row.fpga.ms > 0) {
      add_time(costs, row.kind, "fpga", row.fpga.ms);
      costs.demands.push_back({.kind = row.kind,
                               .device_kind = "fpga",
                               .share = 0.5,  // one of its two contexts
                               .host_read_bytes_per_s = row.fpga.read * kGB,
                               .host_write_bytes_per_s = row.fpga.write * kGB});
    }
  }
  if (noise > 0) costs.run_time_noise = {NoiseSpec::Model::log_normal, noise};
  return costs;
}

Cluster default_cluster(double noise) {
  Result<Machine> machine = Machine::build(default_cluster_machine());
  TUTTI_CHECK(machine.has_value());
  Result<Cluster> cluster = Cluster::make(std::move(*machine), default_cluster_costs(noise));
  TUTTI_CHECK(cluster.has_value());
  return std::move(*cluster);
}

}  // namespace tutti
