// Holds a folder for one run: two that write the same files would spoil both. The kernel lets go of
// it when the process ends, however that comes.

#ifndef TUTTI_BASE_FOLDER_LOCK_H_
#define TUTTI_BASE_FOLDER_LOCK_H_

#include <chrono>
#include <string>
#include <utility>

#include "tutti/base/result.h"

namespace tutti {

class FolderLock {
 public:
  FolderLock(FolderLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

  // Makes the folder if there is none. Fails (invalid_input) if that cannot be done, or if another
  // run still holds it after that time.
  static Result<FolderLock> take(const std::string& folder,
                                 std::chrono::milliseconds patience = {});

  // Of the lock file. A process forked while it is open holds the lock too.
  int file() const { return file_; }

 private:
  explicit FolderLock(int file) : file_(file) {}
  int file_;
};

}  // namespace tutti

#endif  // TUTTI_BASE_FOLDER_LOCK_H_
