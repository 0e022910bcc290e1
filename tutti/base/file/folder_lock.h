// A lock on a folder, or on a file, for one run: two runs that write the same files would damage
// both. The kernel releases it when the process ends, in whatever way.

#ifndef TUTTI_BASE_FILE_FOLDER_LOCK_H_
#define TUTTI_BASE_FILE_FOLDER_LOCK_H_

#include <chrono>
#include <string>
#include <utility>

#include "tutti/base/result.h"

namespace tutti {

// What is locked is the folder itself, so that nothing inside it can be deleted to get in. `lock`,
// a file in it, is locked too: tutti 0.1 looks at nothing else, and some network file systems lock
// no folders.
class FolderLock {
 public:
  FolderLock(FolderLock&& other) noexcept
      : folder_(std::exchange(other.folder_, -1)), file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  // Makes the folder if there is none. Fails (invalid_input) if that cannot be done, or if another
  // run still holds it after that time.
  static Result<FolderLock> take(const std::string& folder,
                                 std::chrono::milliseconds patience = {});

  // An open file. A process forked while it is open holds the lock too.
  int file() const { return folder_ >= 0 ? folder_ : file_; }

 private:
  FolderLock() = default;
  // False: another run holds it.
  bool try_to_take();

  int folder_ = -1;  // -1: it cannot be locked
  int file_ = -1;
};

// Makes a folder that only its owner may enter; parent folders get the usual mode. An existing
// folder stays as it is. Fails (invalid_input) if it cannot be made.
Result<void> make_private_folder(const std::string& path);

// The same for one file that is read, and later replaced: the lock is on NAME.lock in the
// same folder, which is removed with the lock.
class FileLock {
 public:
  FileLock(FileLock&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  // Fails (invalid_input) if nothing can be written there, or if another run holds it.
  static Result<FileLock> take(const std::string& path);

 private:
  FileLock(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string path_;  // of the lock
  int file_;
};

}  // namespace tutti

#endif  // TUTTI_BASE_FILE_FOLDER_LOCK_H_
