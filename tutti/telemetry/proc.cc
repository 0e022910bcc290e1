#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/telemetry/available.h"
#include "tutti/telemetry/kernel_file.h"

namespace tutti {
namespace {

// Of one line of /proc/stat: time in ticks.
struct Ticks {
  double busy = 0;
  double all = 0;
};

// "cpu3 user nice system idle iowait irq softirq steal ...", without its first word.
Ticks ticks_in(std::string_view line) {
  Ticks ticks;
  for (int field = 0; field < 8; ++field) {
    const std::optional<double> value = next_number(line);
    if (!value) break;
    ticks.all += *value;
    if (field != 3 && field != 4) ticks.busy += *value;
  }
  return ticks;
}

// Received and sent.
using InterfaceBytes = std::map<std::string, std::pair<double, double>, std::less<>>;

// Bytes of each interface but the loopback: /proc/net/dev has two lines of headings, then
// "eth0: received-bytes and 7 more, sent-bytes ...".
InterfaceBytes interface_bytes(std::string_view text) {
  InterfaceBytes bytes;
  while (!text.empty()) {
    std::string_view line = next_line(text);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = line.substr(0, colon);
    name = next_word(name);
    line.remove_prefix(colon + 1);
    double fields[9] = {};
    int count = 0;
    while (count < 9) {
      const std::optional<double> value = next_number(line);
      if (!value) break;
      fields[count++] = *value;
    }
    if (count == 9 && name != "lo") bytes[std::string(name)] = {fields[0], fields[8]};
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
  ProcSource(const Machine& machine, Clock clock, const std::string& root, CoresAre what)
      : clock_(std::move(clock)),
        stat_(root + "/proc/stat"),
        vmstat_(root + "/proc/vmstat"),
        meminfo_(root + "/proc/meminfo"),
        interfaces_(root + "/proc/net/dev"),
        cgroup_cpu_(cgroup_folder(root) + "/cpu.stat"),
        cgroup_memory_(cgroup_folder(root) + "/memory.current"),
        old_cgroup_cpu_(root + "/sys/fs/cgroup/cpuacct/cpuacct.usage"),
        old_cgroup_memory_(root + "/sys/fs/cgroup/memory/memory.usage_in_bytes") {
    read_files();
    for (HostCore& core : host_cores(machine, root, what)) {
      const std::string name = resource_name(machine, core.resource);
      counters_.push_back({name + ".busy", "share", core.resource, Quantity::busy});
      cores_.push_back({std::move(core), {}});
    }
    const Resource memory = resource_of(machine.host_memory());
    add_rate("context_switches", "1/s", {}, [this] { return switches_; });
    add_rate("page_faults", "1/s", memory, [this] { return vmstat_.value_of("pgfault"); });
    add_rate("major_page_faults", "1/s", memory, [this] { return vmstat_.value_of("pgmajfault"); });
    for (const auto& [name, bytes] : network_) {
      add_rate(name + ".received", "B/s", {}, [this, name = name] { return received(name); });
      add_rate(name + ".sent", "B/s", {}, [this, name = name] { return sent(name); });
    }
    add_level("memory_available", "B", memory, [this] {
      const auto kibibytes = meminfo_.value_of("MemAvailable");
      return kibibytes ? std::optional(*kibibytes * 1024) : std::nullopt;
    });
    add_rate("cgroup.cpu", "cores", {}, [this] { return cgroup_cpu_seconds(); });
    add_level("cgroup.memory", "B", memory, [this] {
      const auto bytes = cgroup_memory_.number();
      return bytes ? bytes : old_cgroup_memory_.number();
    });
    std::vector<double> first(counters_.size());
    read(first);
  }

  std::span<const Counter> counters() const override { return counters_; }

  void read(std::span<double> values) override {
    const Duration now = clock_();
    read_files();
    size_t next = 0;
    for (Core& core : cores_) values[next++] = busy_share(core, processors_);
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

  void read_files() {
    for (KernelFile* file : {&stat_, &vmstat_, &meminfo_, &interfaces_, &cgroup_cpu_,
                             &cgroup_memory_, &old_cgroup_cpu_, &old_cgroup_memory_}) {
      file->read();
    }
    read_stat();
    network_ = interface_bytes(interfaces_.text());
  }

  // Of version 2, else of version 1 as a container sees it.
  std::optional<double> cgroup_cpu_seconds() const {
    if (const auto microseconds = cgroup_cpu_.value_of("usage_usec")) return *microseconds * 1e-6;
    const auto nanoseconds = old_cgroup_cpu_.number();
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

  void read_stat() {
    processors_.clear();
    for (std::string_view rest = stat_.text(); !rest.empty();) {
      std::string_view line = next_line(rest);
      const std::string_view key = next_word(line);
      if (key == "ctxt") switches_ = next_number(line);
      if (!key.starts_with("cpu") || key.size() == 3) continue;
      std::string_view number = key.substr(3);
      if (const auto processor = next_number(number))
        processors_[static_cast<int>(*processor)] = ticks_in(line);
    }
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
  KernelFile stat_, vmstat_, meminfo_, interfaces_;
  KernelFile cgroup_cpu_, cgroup_memory_;
  KernelFile old_cgroup_cpu_, old_cgroup_memory_;  // of version 1
  std::vector<Counter> counters_;
  std::vector<Core> cores_;
  std::vector<Other> others_;
  std::map<int, Ticks> processors_;
  std::optional<double> switches_;
  InterfaceBytes network_;
};

}  // namespace

Result<std::unique_ptr<CounterSource>> make_proc_source(const Machine& machine, Clock clock,
                                                        const std::string& root, CoresAre what) {
  if (!std::ifstream(root + "/proc/stat")) return failed("there is no " + root + "/proc/stat");
  return std::unique_ptr<CounterSource>(
      std::make_unique<ProcSource>(machine, std::move(clock), root, what));
}

}  // namespace tutti
