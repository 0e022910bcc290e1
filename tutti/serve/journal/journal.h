// The Journal keeps records on disk: a folder with the file `journal` (frames.h) and a lock, so
// that one server at a time uses it.
//
// Records are appended by any thread and written by one of its own, as many at once as have
// gathered while the disk was busy with those before (group commit), each batch with one fdatasync.
// The journal can be replaced by a shorter one in a single step.
//
// Once writing has failed, for instance because the disk is full, nothing more is written: what
// reached the disk is known only when the journal is read again.

#ifndef TUTTI_SERVE_JOURNAL_JOURNAL_H_
#define TUTTI_SERVE_JOURNAL_JOURNAL_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tutti/base/folder_lock.h"
#include "tutti/base/mutex.h"
#include "tutti/base/result.h"
#include "tutti/serve/journal/record.h"

namespace tutti {

struct JournalFigures {
  int64_t bytes = 0;  // of the file
  int64_t records_total = 0;
  int64_t syncs_total = 0;
  int64_t rewrites_total = 0;
};

class Journal {
 public:
  // Called by the journal's thread: the first `count` records appended since it was opened are on
  // the disk; or it has failed, and this was the last call.
  using OnDisk = std::function<void(int64_t count, const Result<void>& good)>;

  // Makes the folder if it is not there, hands every record to `take`, oldest first, and cuts off
  // what was left of a record that was being written. Fails (invalid_input) if another server has
  // the folder, if the journal is damaged, or with what `take` returns.
  static Result<std::unique_ptr<Journal>> open(const std::string& folder,
                                               const std::function<Result<void>(Record)>& take,
                                               OnDisk on_disk);
  // As finish().
  ~Journal();

  // Starts the thread. Before, records only gather.
  void begin();

  // Writes what has been appended, and calls nobody any more once it returns.
  void finish();

  void append(Record record);
  // Instead of all there is so far. Records appended later come behind these.
  void replace(std::vector<Record> records);

  JournalFigures figures() const;
  // Bytes that were cut off when it was opened.
  int64_t cut_bytes() const { return cut_bytes_; }

 private:
  // Records to append, or a whole new journal.
  struct Item {
    Record record{};
    std::optional<std::vector<Record>> replacement{};
  };

  Journal(std::string folder, FolderLock lock, OnDisk on_disk)
      : folder_(std::move(folder)), lock_(std::move(lock)), on_disk_(std::move(on_disk)) {}
  Result<void> read_all(const std::function<Result<void>(Record)>& take);
  void work();
  Result<void> write_items(std::vector<Item> items);
  Result<void> write_frames(std::string& bytes);
  Result<void> rewrite(const std::vector<Record>& records);
  std::string path() const { return folder_ + "/journal"; }

  std::string folder_;
  FolderLock lock_;
  OnDisk on_disk_;
  int file_ = -1;
  int64_t cut_bytes_ = 0;
  // Of the thread alone.
  int64_t sequence_ = 0;  // of the last frame written
  int64_t durable_ = 0;   // of the last known to be on the disk
  int64_t appended_on_disk_ = 0;

  mutable Mutex mutex_;
  std::condition_variable_any more_;
  std::vector<Item> items_ GUARDED_BY(mutex_);
  bool ends_ GUARDED_BY(mutex_) = false;
  JournalFigures figures_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tutti

#endif  // TUTTI_SERVE_JOURNAL_JOURNAL_H_
