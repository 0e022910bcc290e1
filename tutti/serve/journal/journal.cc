#include "tutti/serve/journal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tutti/serve/journal/disk.h"

namespace tutti {
namespace {

// Frames are gathered up to about this much before they are handed to the kernel.
constexpr size_t kWriteBytes = size_t{1} << 20;
constexpr std::chrono::milliseconds kLockPatience{500};

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& folder,
                                               const std::function<Result<void>(Record)>& take,
                                               OnDisk on_disk) {
  // A supervisor of commands that a killed server left behind holds it for some milliseconds.
  Result<FolderLock> lock = FolderLock::take(folder, kLockPatience);
  if (!lock) return lock.error();
  std::unique_ptr<Journal> journal(new Journal(folder, std::move(*lock), std::move(on_disk)));
  if (const Result<void> read = journal->read_all(take); !read) return read.error();
  return journal;
}

Result<void> Journal::read_all(const std::function<Result<void>(Record)>& take) {
  file_ = ::open(path().c_str(), O_RDWR | O_CLOEXEC);
  if (file_ < 0 && errno == ENOENT) {
    Result<std::string> id = fresh_journal_id();
    if (!id) return id.error();
    id_ = std::move(*id);
    return rewrite({});
  }
  if (file_ < 0) {
    return invalid_input(fmt::format("{}: cannot be written: {}", path(), std::strerror(errno)));
  }
  const Result<Mapped> mapped = Mapped::of(file_, path());
  if (!mapped) return mapped.error();
  const Surveyed surveyed = survey(mapped->bytes());
  if (const auto whole = check_whole(surveyed, path(), folder_); !whole) return whole;
  std::vector<Record> old;
  for (const Surveyed::Frame& frame : surveyed.frames) {
    Result<Record> record = read_record(frame.payload, surveyed.version);
    if (record && surveyed.version < kJournalVersion) old.push_back(*record);
    const Result<void> taken = record ? take(std::move(*record)) : Result<void>(record.error());
    if (!taken) {
      return Error{taken.error().kind,
                   fmt::format("{}: record {}: {}", path(), frame.sequence, taken.error().message)};
    }
  }
  if (surveyed.version == kJournalVersion) return go_on_behind(surveyed, mapped->bytes().size());
  id_ = surveyed.id;  // folders of jobs name it
  if (id_.empty()) {
    Result<std::string> id = fresh_journal_id();
    if (!id) return id.error();
    id_ = std::move(*id);
  }
  const std::string kept_as = surveyed.version == 1 ? "journal.0.1" : "journal.2";
  notices_.push_back(
      fmt::format("{}: was of version {} and is rewritten as version {}; the old "
                  "one is kept as {}",
                  path(), surveyed.version, kJournalVersion, kept_as));
  ::unlink((folder_ + "/" + kept_as).c_str());  // of an upgrade that was cut short
  return rewrite(old, kept_as);
}

Result<void> Journal::go_on_behind(const Surveyed& surveyed, size_t size) {
  id_ = surveyed.id;
  end_ = static_cast<int64_t>(surveyed.good_bytes);
  sequence_ = surveyed.frames.empty() ? 0 : surveyed.frames.back().sequence;
  durable_ = sequence_;
  next_mark_ = surveyed.older_mark;
  if (surveyed.marks_good < 2) {
    notices_.push_back(fmt::format(
        "{}: one of its two marks was not whole, as after a power cut; the other says that {} "
        "records were promised, and {} are there",
        path(), surveyed.promised, sequence_));
  }
  if (size > surveyed.good_bytes) {
    notices_.push_back(fmt::format("{}: cut off {} bytes of records that were never acknowledged",
                                   path(), size - surveyed.good_bytes));
    if (::ftruncate(file_, end_) != 0) return disk_error(path(), "cutting");
  }
  // What was read may have been in the kernel's memory alone.
  if (::fsync(file_) != 0) return disk_error(path(), "syncing");
  // Both, so that neither is left damaged.
  for (int i = 0; i < 2; ++i) {
    if (const auto marked = write_mark(); !marked) return marked;
  }
  MutexLock lock(mutex_);
  figures_.bytes = end_;
  return {};
}

void Journal::finish() {
  {
    MutexLock lock(mutex_);
    ends_ = true;
    more_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

Journal::~Journal() {
  finish();
  if (file_ >= 0) ::close(file_);
}

void Journal::begin() {
  thread_ = std::thread([this] { work(); });
}

void Journal::append(Record record) {
  MutexLock lock(mutex_);
  items_.push_back({.record = std::move(record)});
  more_.notify_one();
}

void Journal::replace(std::vector<Record> records) {
  MutexLock lock(mutex_);
  items_.push_back({.replacement = std::move(records)});
  more_.notify_one();
}

JournalFigures Journal::figures() const {
  MutexLock lock(mutex_);
  return figures_;
}

void Journal::work() {
  while (true) {
    std::vector<Item> items;
    {
      MutexLock lock(mutex_);
      while (items_.empty() && !ends_) more_.wait(mutex_);
      if (items_.empty()) return;
      items.swap(items_);
    }
    const Result<void> good = write_items(items);
    on_disk_(appended_on_disk_, good);
    if (!good) return;
  }
}

Result<void> Journal::write_items(std::span<const Item> items) {
  int64_t appended = 0;
  std::string bytes;
  for (const Item& item : items) {
    if (item.replacement) {
      if (const auto written = write_frames(bytes); !written) return written;
      if (const auto synced = sync(appended); !synced) return synced;
      if (const auto rewritten = rewrite(*item.replacement); !rewritten) return rewritten;
      MutexLock lock(mutex_);
      ++figures_.rewrites_total;
      continue;
    }
    add_frame(bytes, id_, ++sequence_, durable_, to_bytes(item.record));
    ++appended;
    if (bytes.size() < kWriteBytes) continue;
    if (const auto written = write_frames(bytes); !written) return written;
  }
  if (const auto written = write_frames(bytes); !written) return written;
  return sync(appended);
}

Result<void> Journal::write_frames(std::string& bytes) {
  const Result<void> written = write_all(file_, bytes, end_, path());
  end_ += static_cast<int64_t>(bytes.size());
  bytes.clear();
  MutexLock lock(mutex_);
  figures_.bytes = end_;
  return written;
}

Result<void> Journal::sync(int64_t& appended) {
  if (appended == 0) return {};
  const auto began = std::chrono::steady_clock::now();
  if (::fdatasync(file_) != 0) return disk_error(path(), "syncing");
  durable_ = sequence_;
  if (const auto marked = write_mark(); !marked) return marked;
  appended_on_disk_ += appended;
  MutexLock lock(mutex_);
  figures_.records_total += std::exchange(appended, 0);
  ++figures_.syncs_total;
  figures_.sync_time += std::chrono::steady_clock::now() - began;
  return {};
}

// Over the older of the two, in a block that the file has already: one wait for the disk, and
// no further bookkeeping of the file system's.
Result<void> Journal::write_mark() {
  const std::string text = mark_text(id_, {durable_, end_});
  const auto place = static_cast<int64_t>(mark_place(next_mark_));
  if (const auto written = write_all(file_, text, place, path()); !written) return written;
  if (::fdatasync(file_) != 0) return disk_error(path(), "syncing");
  next_mark_ = 1 - next_mark_;
  return {};
}

Result<void> Journal::rewrite(const std::vector<Record>& records, const std::string& keep_as) {
  const Result<WrittenJournal> written = write_journal(folder_, id_, records, keep_as);
  if (!written) return written.error();
  if (file_ >= 0) ::close(file_);
  file_ = written->file;
  end_ = written->bytes;
  sequence_ = durable_ = static_cast<int64_t>(records.size());
  next_mark_ = 0;
  MutexLock lock(mutex_);
  figures_.bytes = end_;
  return {};
}

}  // namespace tutti
