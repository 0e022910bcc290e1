#include "tutti/base/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

namespace tutti {

FolderLock::~FolderLock() {
  if (file_ >= 0) close(file_);
}

Result<FolderLock> FolderLock::take(const std::string& folder, std::chrono::milliseconds patience) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return invalid_input(fmt::format("the folder {} cannot be made: {}", folder, error.message()));
  }
  FolderLock lock(open((folder + "/lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
  if (lock.file_ < 0) return invalid_input(fmt::format("{} cannot be written to", folder));
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (flock(lock.file_, LOCK_EX | LOCK_NB) == 0) return lock;
    if (std::chrono::steady_clock::now() >= until) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return invalid_input(fmt::format(
      "{}: another run is at work in this folder; wait for it, or name another folder", folder));
}

}  // namespace tutti
