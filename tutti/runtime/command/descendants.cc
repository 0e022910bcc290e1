#include "tutti/runtime/command/descendants.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tutti {
namespace {

// Of a whole host. Beyond it, those whose parent is the root are still found.
constexpr int kMostProcesses = 1 << 16;

// As the kernel writes it; glibc has no name for it.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[1];  // and more
};

struct ProcessStat {
  char state = 'X';
  pid_t parent = 0;
  pid_t session = 0;
};

// 0: it is no number.
pid_t number_of(const char* name) {
  pid_t number = 0;
  const char* end = name + std::strlen(name);
  const auto [rest, error] = std::from_chars(name, end, number);
  return error == std::errc{} && rest == end && number > 0 ? number : 0;
}

std::string_view read_stat(pid_t process, std::array<char, 1024>& buffer) {
  char path[32] = "/proc/";
  const auto written = std::to_chars(path + 6, path + sizeof path - 6, process);
  std::memcpy(written.ptr, "/stat", 6);
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  return {buffer.data(), static_cast<size_t>(std::max<ssize_t>(0, bytes))};
}

// "12 (a name) S 1 12 12 ...": state, parent, group, session. A name may hold anything.
bool parse_stat(std::string_view text, ProcessStat& stat) {
  const size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 4 > text.size()) return false;
  stat.state = text[name_end + 2];
  const char* at = text.data() + name_end + 4;
  const char* const end = text.data() + text.size();
  pid_t group = 0;
  for (pid_t* number : {&stat.parent, &group, &stat.session}) {
    const auto [rest, error] = std::from_chars(at, end, *number);
    if (error != std::errc{} || rest == end) return false;
    at = rest + 1;
  }
  return true;
}

}  // namespace

// Not filled in: most of it is never touched, and so takes no memory.
ProcessTable::ProcessTable() : entries_(new Entry[kMostProcesses]) {}

int ProcessTable::signal_descendants(pid_t root, int signal) {
  const auto wanted = [root](pid_t process, const ProcessStat& stat) {
    return process == root || stat.parent == root || stat.session == root;
  };
  return fill(wanted) ? signal_wanted(signal, root) : -1;
}

int ProcessTable::kill_orphans(std::span<const pid_t> kept) {
  const pid_t self = ::getpid();
  const pid_t session = ::getsid(0);
  const auto wanted = [&](pid_t process, const ProcessStat& stat) {
    return stat.parent == self && stat.session != session &&
           std::find(kept.begin(), kept.end(), process) == kept.end();
  };
  if (!fill(wanted)) return -1;
  const int alive = signal_wanted(SIGKILL, self);
  for (int i = 0; i < count_; ++i) {
    const Entry& entry = entries_[i];
    if (entry.wanted && entry.parent == self) ::waitpid(entry.process, nullptr, WNOHANG);
  }
  return alive;
}

int ProcessTable::signal_wanted(int signal, pid_t except) const {
  int alive = 0;
  for (int i = 0; i < count_; ++i) {
    const Entry& entry = entries_[i];
    if (!entry.wanted || entry.dead || entry.process == except) continue;
    if (::kill(entry.process, signal) == 0 || errno != ESRCH) ++alive;
  }
  return alive;
}

template <class Wanted>
bool ProcessTable::fill(const Wanted& wanted) {
  count_ = 0;
  const int folder = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(DirectoryEntry) std::array<char, 16384> buffer;
  for (;;) {
    const long bytes = ::syscall(SYS_getdents64, folder, buffer.data(), buffer.size());
    if (bytes <= 0) break;
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer.data() + at);
      at += entry->length;
      if (const pid_t process = number_of(entry->name); process > 0) add(process, wanted);
    }
  }
  ::close(folder);
  std::sort(entries_.get(), entries_.get() + count_,
            [](const Entry& a, const Entry& b) { return a.process < b.process; });
  find_wanted();
  return count_ > 0;  // at least ourselves: what is mounted there is a proc
}

template <class Wanted>
void ProcessTable::add(pid_t process, const Wanted& wanted) {
  std::array<char, 1024> buffer;
  ProcessStat stat;
  if (!parse_stat(read_stat(process, buffer), stat)) return;  // it is gone
  const bool is_wanted = wanted(process, stat);
  if (count_ == kMostProcesses) {
    if (!is_wanted) return;
    --count_;
  }
  entries_[count_++] = {process, stat.parent, is_wanted, stat.state == 'Z' || stat.state == 'X'};
}

// Parents mostly have smaller numbers than their children, so that one pass finds nearly all.
void ProcessTable::find_wanted() {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < count_; ++i) {
      Entry& entry = entries_[i];
      if (entry.wanted) continue;
      const Entry* parent = find(entry.parent);
      if (parent == nullptr || !parent->wanted) continue;
      entry.wanted = true;
      changed = true;
    }
  }
}

const ProcessTable::Entry* ProcessTable::find(pid_t process) const {
  const Entry* const begin = entries_.get();
  const Entry* const end = begin + count_;
  const Entry* const found = std::lower_bound(
      begin, end, process, [](const Entry& entry, pid_t wanted) { return entry.process < wanted; });
  return found != end && found->process == process ? found : nullptr;
}

}  // namespace tutti
