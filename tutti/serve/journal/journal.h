// The Journal keeps records on disk: a folder with the file `journal` (frames.h) and a lock, so
// that one server at a time uses it.
//
// Records are appended by any thread and written by one of its own, as many at once as have
// gathered while the disk was busy with those before (group commit). When a batch is
// on the disk, a mark that says so is written (frames.h), and only then is it reported: a record
// that was acknowledged and is missing later is noticed. The journal can be replaced by a shorter
// one atomically.
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
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tutti/base/file/folder_lock.h"
#include "tutti/base/mutex.h"
#include "tutti/base/result.h"
#include "tutti/serve/journal/frames.h"
#include "tutti/serve/journal/record.h"

namespace tutti {

struct JournalFigures {
  int64_t bytes = 0;  // of the file
  int64_t records_total = 0;
  int64_t syncs_total = 0;
  Duration sync_time{0};  // of all of them, with their marks
  int64_t rewrites_total = 0;
};

class Journal {
 public:
  // Called by the journal's thread: the first `count` records appended since it was opened are on
  // the disk; or it has failed, and this was the last call.
  using OnDisk = std::function<void(int64_t count, const Result<void>& good)>;

  // Makes the folder if it is not there, hands every record to `take`, oldest first, and cuts off
  // what was left of records that were never acknowledged. A journal of tutti 0.1 is kept as
  // journal.0.1 and rewritten. Fails (invalid_input) if another server has the folder, if
  // anything that was promised is missing, or with what `take` returns.
  static Result<std::unique_ptr<Journal>> open(const std::string& folder,
                                               const std::function<Result<void>(Record)>& take,
                                               OnDisk on_disk);
  // As finish().
  ~Journal();

  // Starts the thread. Before, records only gather.
  void begin();

  // Writes what has been appended. No callback is made once it has returned.
  void finish();

  void append(Record record);
  // Instead of all there is so far. Records appended later come behind these.
  void replace(std::vector<Record> records);

  JournalFigures figures() const;
  // 32 hexadecimal digits, made when the journal was: no other has them.
  const std::string& journal_id() const { return id_; }
  // What its reader should know of how it was found, a sentence each: that bytes were cut off, that
  // it was of an older version.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  // Records to append, or a whole new journal.
  struct Item {
    Record record{};
    std::optional<std::vector<Record>> replacement{};
  };

  Journal(std::string folder, FolderLock lock, OnDisk on_disk)
      : folder_(std::move(folder)), lock_(std::move(lock)), on_disk_(std::move(on_disk)) {}
  Result<void> read_all(const std::function<Result<void>(Record)>& take);
  Result<void> go_on_behind(const Surveyed& surveyed, size_t size);
  void work();
  Result<void> write_items(std::span<const Item> items);
  Result<void> write_frames(std::string& bytes);
  Result<void> sync(int64_t& appended);
  Result<void> write_mark();
  // `keep_as` as in write_journal().
  Result<void> rewrite(const std::vector<Record>& records, const std::string& keep_as = {});
  std::string path() const { return folder_ + "/journal"; }

  std::string folder_;
  FolderLock lock_;
  OnDisk on_disk_;
  std::string id_{};
  int file_ = -1;
  std::vector<std::string> notices_{};
  // Of the thread alone.
  int64_t end_ = 0;       // where the next frame goes
  int64_t sequence_ = 0;  // of the last frame written
  int64_t durable_ = 0;   // of the last known to be on the disk
  int next_mark_ = 0;     // which of the two is older
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
