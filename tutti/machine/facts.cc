// What the files under /proc and /sys say.

#include "tutti/machine/facts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <optional>

namespace tutti {
namespace {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

// The number that a text begins with.
std::optional<double> leading_number(const std::string& text) {
  double number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || !(number > 0)) return std::nullopt;
  return number;
}

// The least limit in the group's folder and in those above it, up to the mount point. Inside a
// container the group's path may not exist there; the mount point then is the container's own
// group.
int64_t least_limit(const std::string& mount, std::string group, const std::string& file) {
  int64_t least = kUnlimitedBytes;
  for (;;) {
    const auto text = first_line(mount + group + "/" + file);
    const auto limit = text ? leading_number(*text) : std::nullopt;
    // "max" is no number, and v1 says "no limit" by a number near 2^63.
    if (limit && *limit < 4e18) least = std::min(least, static_cast<int64_t>(*limit));
    if (group.empty()) return least;
    group.resize(group.find_last_of('/') == std::string::npos ? 0 : group.find_last_of('/'));
  }
}

bool lists(const std::string& controllers, const std::string& wanted) {
  return ("," + controllers + ",").find("," + wanted + ",") != std::string::npos;
}

}  // namespace

int64_t cgroup_memory_limit(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  int64_t limit = kUnlimitedBytes;
  std::ifstream groups(root + "/proc/self/cgroup");
  // Each line is "number:controllers:path"; the one of v2 has no controllers.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      limit = std::min(limit, least_limit(mount, group, "memory.max"));
    } else if (lists(controllers, "memory")) {
      limit = std::min(limit, least_limit(mount + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return limit;
}

double nominal_hertz(const std::string& root) {
  const std::string folder = root + "/sys/devices/system/cpu/cpu0/cpufreq/";
  for (const char* file : {"base_frequency", "cpuinfo_max_freq"}) {
    const auto text = first_line(folder + file);
    const auto kilohertz = text ? leading_number(*text) : std::nullopt;
    if (kilohertz) return *kilohertz * 1e3;
  }
  // "model name : Intel(R) Xeon(R) CPU @ 2.20GHz". The line "cpu MHz" is the clock of the moment.
  std::ifstream cores(root + "/proc/cpuinfo");
  for (std::string line; std::getline(cores, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t at = line.find("@ ");
    const auto gigahertz =
        at == std::string::npos ? std::nullopt : leading_number(line.substr(at + 2));
    if (gigahertz) return *gigahertz * 1e9;
    break;
  }
  return 2.5e9;
}

double pci_bytes_per_s(const std::string& root, const std::string& id) {
  std::string lower = id;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string folder = root + "/sys/bus/pci/devices/" + lower;
  const auto speed = first_line(folder + "/max_link_speed");  // "16.0 GT/s PCIe"
  const auto width = first_line(folder + "/max_link_width");
  const auto gigatransfers = speed ? leading_number(*speed) : std::nullopt;
  const auto lanes = width ? leading_number(*width) : std::nullopt;
  if (!gigatransfers || !lanes || *lanes > 32) return 12e9;
  return 0.8 * *gigatransfers * 1e9 * *lanes / 8;
}

}  // namespace tutti
