#include "tutti/runtime/starpu/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <system_error>

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "tutti-starpu-";
constexpr const char* kHome = "STARPU_HOME";
// A folder is there a little before its lock is.
constexpr std::chrono::minutes kOld{1};

// The lock of a folder, or -1 if there is none or another process holds it.
int try_lock(const fs::path& folder, int flags) {
  const int lock = ::open((folder / "lock").c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  if (lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  if (lock >= 0) ::close(lock);
  return -1;
}

bool is_old(const fs::path& folder) {
  std::error_code failed;
  const fs::file_time_type written = fs::last_write_time(folder, failed);
  return !failed && fs::file_time_type::clock::now() - written > kOld;
}

// Whatever cannot be removed, such as the folders of others, stays.
void remove_left_behind(const fs::path& parent) {
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, failed)) {
    const fs::path& folder = entry.path();
    if (!folder.filename().string().starts_with(kPrefix) || !is_old(folder)) continue;
    const int lock = try_lock(folder, 0);
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    ::close(lock);
  }
}

}  // namespace

Scratch::Scratch(fs::path parent) {
  std::error_code failed;
  if (parent.empty()) parent = fs::temp_directory_path(failed);
  if (failed) return;
  remove_left_behind(parent);
  std::string pattern = (parent / kPrefix).string() + "XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) return;
  path_ = pattern;
  lock_ = try_lock(path_, O_CREAT);
  if (const char* home = ::getenv(kHome)) home_before_ = home;
  ::setenv(kHome, path_.c_str(), /*overwrite=*/1);
}

Scratch::~Scratch() {
  if (path_.empty()) return;
  // A StarPU that is started later would make the folder again.
  home_before_ ? ::setenv(kHome, home_before_->c_str(), /*overwrite=*/1) : ::unsetenv(kHome);
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace tutti
