#include "tutti/telemetry/proc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace tutti {
namespace {

// Of one line of /proc/stat: time in ticks.
struct Ticks {
  double busy = 0;
  double all = 0;
};

// "cpu3 user nice system idle iowait irq softirq steal ...".
Ticks ticks_in(std::istringstream& words) {
  Ticks ticks;
  double value = 0;
  for (int field = 0; field < 8 && words >> value; ++field) {
    ticks.all += value;
    if (field != 3 && field != 4) ticks.busy += value;
  }
  return ticks;
}

// Lines of "name value" or "name: value kB", as in vmstat, meminfo and cpu.stat.
std::optional<double> value_of(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    double value = 0;
    if (!(words >> key >> value)) continue;
    if (!key.empty() && key.back() == ':') key.pop_back();
    if (key == name) return value;
  }
  return std::nullopt;
}

std::optional<double> number_in(const std::string& path) {
  double number = 0;
  std::ifstream file(path);
  return file >> number ? std::optional(number) : std::nullopt;
}

// Bytes of each interface but the loopback: /proc/net/dev has two lines of headings, then
// "eth0: received-bytes and 7 more, sent-bytes ...".
std::map<std::string, std::pair<double, double>> interface_bytes(const std::string& path) {
  std::map<std::string, std::pair<double, double>> bytes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream name(line.substr(0, colon));
    std::istringstream words(line.substr(colon + 1));
    std::string interface;
    double fields[9] = {};
    name >> interface;
    int count = 0;
    while (count < 9 && words >> fields[count]) ++count;
    if (count == 9 && interface != "lo") bytes[interface] = {fields[0], fields[8]};
  }
  return bytes;
}

// The folder of the cgroup (version 2) this process is in, as seen from inside a container too.
std::string cgroup_folder(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;
    std::string folder = root + "/sys/fs/cgroup" + line.substr(3);
    if (std::ifstream(folder + "/cpu.stat")) return folder;
  }
  return root + "/sys/fs/cgroup";
}

class ProcSource final : public CounterSource {
 public:
  ProcSource(const Machine& machine, Clock clock, std::string root, CoresAre what)
      : clock_(std::move(clock)), root_(std::move(root)), cgroup_(cgroup_folder(root_)) {
    read_stat();
    network_ = interface_bytes(root_ + "/proc/net/dev");
    for (HostCore& core : host_cores(machine, root_, what)) {
      const std::string name = resource_name(machine, core.resource);
      counters_.push_back({name + ".busy", "share", core.resource, Quantity::busy});
      cores_.push_back({std::move(core), {}});
    }
    const Resource memory = resource_of(machine.host_memory());
    add_rate("context_switches", "1/s", {}, [this] { return switches_; });
    add_rate("page_faults", "1/s", memory, of(root_ + "/proc/vmstat", "pgfault"));
    add_rate("major_page_faults", "1/s", memory, of(root_ + "/proc/vmstat", "pgmajfault"));
    for (const auto& [name, bytes] : interface_bytes(root_ + "/proc/net/dev")) {
      add_rate(name + ".received", "B/s", {}, [this, name = name] { return received(name); });
      add_rate(name + ".sent", "B/s", {}, [this, name = name] { return sent(name); });
    }
    add_level("memory_available", "B", memory, [this] {
      const auto kibibytes = value_of(root_ + "/proc/meminfo", "MemAvailable");
      return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
    });
    add_rate("cgroup.cpu", "cores", {}, [this] { return cgroup_cpu_seconds(); });
    add_level("cgroup.memory", "B", memory, [this] {
      const auto bytes = number_in(cgroup_ + "/memory.current");
      return bytes ? bytes : number_in(root_ + "/sys/fs/cgroup/memory/memory.usage_in_bytes");
    });
    std::vector<double> first(counters_.size());
    read(first);
  }

  std::span<const Counter> counters() const override { return counters_; }

  void read(std::span<double> values) override {
    const Duration now = clock_();
    const auto processors = read_stat();
    network_ = interface_bytes(root_ + "/proc/net/dev");
    size_t next = 0;
    for (Core& core : cores_) values[next++] = busy_share(core, processors);
    for (Other& other : others_) {
      const std::optional<double> value = other.look();
      values[next++] = !value ? kUnknown : other.is_level ? *value : other.rate.update(*value, now);
    }
  }

 private:
  using Look = std::function<std::optional<double>()>;
  struct Core {
    HostCore core;
    Ticks last;
  };
  struct Other {
    Look look;
    bool is_level;  // a level is what it is, a rate is what it has grown by
    Rate rate{};
  };

  static Look of(std::string path, std::string name) {
    return [path = std::move(path), name = std::move(name)] { return value_of(path, name); };
  }

  // Of version 2, else of version 1 as a container sees it.
  std::optional<double> cgroup_cpu_seconds() const {
    if (const auto microseconds = value_of(cgroup_ + "/cpu.stat", "usage_usec"))
      return *microseconds * 1e-6;
    const auto nanoseconds = number_in(root_ + "/sys/fs/cgroup/cpuacct/cpuacct.usage");
    return nanoseconds ? std::optional(*nanoseconds * 1e-9) : std::nullopt;
  }

  // None for an interface that has gone.
  std::optional<double> received(const std::string& name) const {
    const auto found = network_.find(name);
    return found != network_.end() ? std::optional(found->second.first) : std::nullopt;
  }
  std::optional<double> sent(const std::string& name) const {
    const auto found = network_.find(name);
    return found != network_.end() ? std::optional(found->second.second) : std::nullopt;
  }

  // Only what this host has is listed.
  void add(const std::string& name, const std::string& unit, const Resource& resource, Look look,
           bool is_level) {
    if (!look()) return;
    counters_.push_back({name, unit, resource});
    others_.push_back({std::move(look), is_level});
  }
  void add_rate(const std::string& name, const std::string& unit, const Resource& resource,
                Look look) {
    add(name, unit, resource, std::move(look), /*is_level=*/false);
  }
  void add_level(const std::string& name, const std::string& unit, const Resource& resource,
                 Look look) {
    add(name, unit, resource, std::move(look), /*is_level=*/true);
  }

  std::map<int, Ticks> read_stat() {
    std::map<int, Ticks> processors;
    std::ifstream file(root_ + "/proc/stat");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string key;
      words >> key;
      double value = 0;
      if (key == "ctxt" && words >> value) switches_ = value;
      if (!key.starts_with("cpu") || key.size() == 3) continue;
      processors[std::atoi(key.c_str() + 3)] = ticks_in(words);
    }
    return processors;
  }

  // Not a number if no tick has passed: the kernel counts in hundredths of a second.
  static double busy_share(Core& core, const std::map<int, Ticks>& processors) {
    Ticks sum;
    for (const int processor : core.core.processors) {
      const auto found = processors.find(processor);
      if (found == processors.end()) return kUnknown;
      sum.busy += found->second.busy;
      sum.all += found->second.all;
    }
    const double all = sum.all - core.last.all;
    const double busy = sum.busy - core.last.busy;
    core.last = sum;
    return all > 0 ? std::clamp(busy / all, 0.0, 1.0) : kUnknown;
  }

  Clock clock_;
  std::string root_;
  std::string cgroup_;
  std::vector<Counter> counters_;
  std::vector<Core> cores_;
  std::vector<Other> others_;
  std::optional<double> switches_;
  std::map<std::string, std::pair<double, double>> network_;
};

}  // namespace

Result<std::unique_ptr<CounterSource>> make_proc_source(const Machine& machine, Clock clock,
                                                        const std::string& root, CoresAre what) {
  if (!std::ifstream(root + "/proc/stat")) return failed("there is no " + root + "/proc/stat");
  return std::unique_ptr<CounterSource>(
      std::make_unique<ProcSource>(machine, std::move(clock), root, what));
}

}  // namespace tutti
