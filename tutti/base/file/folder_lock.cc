#include "tutti/base/file/folder_lock.h"

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
  if (folder_ >= 0) close(folder_);
}

Result<FolderLock> FolderLock::take(const std::string& folder, std::chrono::milliseconds patience) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return invalid_input(fmt::format("the folder {} cannot be made: {}", folder, error.message()));
  }
  FolderLock lock;
  lock.folder_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  lock.file_ = open((folder + "/lock").c_str(), O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock.file_ < 0) return invalid_input(fmt::format("{} cannot be written to", folder));
  const auto until = std::chrono::steady_clock::now() + patience;
  for (;;) {
    if (lock.try_to_take()) return lock;
    if (std::chrono::steady_clock::now() >= until) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return invalid_input(fmt::format(
      "{}: another run is at work in this folder; wait for it, or name another folder", folder));
}

bool FolderLock::try_to_take() {
  if (folder_ >= 0 && flock(folder_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    close(std::exchange(folder_, -1));  // this file system locks no folders
  }
  return flock(file_, LOCK_EX | LOCK_NB) == 0;
}

Result<void> make_private_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::path whole = std::filesystem::path(path).lexically_normal();
  if (whole.filename().empty()) whole = whole.parent_path();  // it was given with a '/' behind
  const std::filesystem::path above = whole.parent_path();
  if (!above.empty()) std::filesystem::create_directories(above, error);
  if (!error && mkdir(whole.c_str(), 0700) != 0 && errno != EEXIST) {
    error = std::error_code(errno, std::generic_category());
  }
  if (!error && !std::filesystem::is_directory(whole, error) && !error) {
    error = std::make_error_code(std::errc::not_a_directory);
  }
  if (!error) return {};
  return invalid_input(fmt::format("the folder {} cannot be made: {}", path, error.message()));
}

FileLock::~FileLock() {
  if (file_ < 0) return;
  unlink(path_.c_str());  // still held, so no other process has it
  close(file_);
}

Result<FileLock> FileLock::take(const std::string& path) {
  const std::string name = path + ".lock";
  for (;;) {
    FileLock lock(name, open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    if (lock.file_ < 0) {
      return invalid_input(fmt::format("{}: cannot be written: {}", name, std::strerror(errno)));
    }
    if (flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
      close(std::exchange(lock.file_, -1));
      return invalid_input(fmt::format(
          "{}: another run is at work with this file; wait for it, or name another", path));
    }
    // The process that held it may have removed the file between our two steps.
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
