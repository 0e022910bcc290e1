#include "tutti/runtime/command/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace tutti {
namespace {

std::string text_of_proc(const char* path) {
  std::string text;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> buffer;
  ssize_t bytes = 0;
  while ((bytes = ::read(file, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<size_t>(bytes));
  }
  ::close(file);
  return text;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

// mountinfo writes blanks and the like as "\040".
std::string unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](size_t k) { return text[i + k] - '0'; };
    const bool escape = text[i] == '\\' && i + 3 < text.size();
    plain += escape ? static_cast<char>(64 * digit(1) + 8 * digit(2) + digit(3)) : text[i];
    if (escape) i += 3;
  }
  return plain;
}

}  // namespace

// mountinfo: "41 31 0:38 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw"; cgroup:
// "0::/my/group".
std::string own_cgroup(std::string_view mountinfo, std::string_view cgroup) {
  std::string own;
  for (const std::string_view line : parts_of(cgroup, '\n')) {
    if (line.starts_with("0::/")) own = line.substr(3);
  }
  if (own.empty()) return {};
  for (const std::string_view line : parts_of(mountinfo, '\n')) {
    const size_t dash = line.find(" - ");
    if (dash == std::string_view::npos || !line.substr(dash + 3).starts_with("cgroup2 ")) continue;
    const std::vector<std::string_view> fields = parts_of(line.substr(0, dash), ' ');
    if (fields.size() < 5) continue;
    const std::string root = unescaped(fields[3]);  // what of the file system is shown there
    const std::string shown = root == "/" ? "" : root;
    if (!own.starts_with(shown)) continue;
    const std::string below = own.substr(shown.size());
    if (!below.empty() && below.front() != '/') continue;
    return unescaped(fields[4]) + (below == "/" ? "" : below);
  }
  return {};
}

std::optional<Cgroup> Cgroup::make() {
  static std::atomic<int64_t> made{0};  // no two of this process share a name
  const std::string parent =
      own_cgroup(text_of_proc("/proc/self/mountinfo"), text_of_proc("/proc/self/cgroup"));
  if (parent.empty()) return std::nullopt;
  const std::string path = fmt::format("{}/tutti-{}-{}", parent, ::getpid(), made.fetch_add(1) + 1);
  if (::mkdir(path.c_str(), 0755) != 0) return std::nullopt;
  Cgroup group;
  group.path_ = path;
  group.members_ = ::open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  group.kill_ = ::open((path + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC);  // since Linux 5.14
  if (group.members_ < 0 || group.kill_ < 0) return std::nullopt;
  return group;
}

Cgroup::~Cgroup() {
  if (members_ >= 0) ::close(members_);
  if (kill_ >= 0) ::close(kill_);
  if (!path_.empty()) ::rmdir(path_.c_str());
}

}  // namespace tutti
