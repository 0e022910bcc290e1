#include "tutti/base/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

FileLock::~FileLock() {
  if (file_ < 0) return;
  unlink(path_.c_str());  // still held, so nobody else's
  close(file_);
}

Result<FileLock> FileLock::take(const std::string& path) {
  const std::string name = path + ".lock";
  for (;;) {
    FileLock lock(name, open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
    if (lock.file_ < 0) {
      return invalid_input(fmt::format("{}: cannot be written: {}", name, std::strerror(errno)));
    }
    if (flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
      close(std::exchange(lock.file_, -1));
      return invalid_input(fmt::format(
          "{}: another run is at work with this file; wait for it, or name another", path));
    }
    // Whoever held it may have taken it away between our two steps.
    struct stat ours {};
    struct stat there {};
    if (fstat(lock.file_, &ours) == 0 && stat(name.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev) {
      return lock;
    }
    close(std::exchange(lock.file_, -1));
  }
}

}  // namespace tutti
