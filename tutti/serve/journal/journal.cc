#include "tutti/serve/journal/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tutti/serve/journal/frames.h"

namespace tutti {
namespace {

// Frames are gathered up to about this much before they are handed to the kernel.
constexpr size_t kWriteBytes = size_t{1} << 20;

Error disk_error(const std::string& path, const char* what) {
  return failed(fmt::format("{}: {} failed: {}", path, what, std::strerror(errno)));
}

Result<void> write_all(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return disk_error(path, "writing");
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

// A new name in a folder is on the disk once the folder is.
Result<void> sync_folder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool good = file >= 0 && ::fsync(file) == 0;
  const Error error = disk_error(folder, "syncing");
  if (file >= 0) ::close(file);
  if (!good) return error;
  return {};
}

// A file's bytes for as long as it lives.
class Mapped {
 public:
  static Result<Mapped> of(int file, const std::string& path) {
    struct stat info {};
    if (::fstat(file, &info) != 0) return disk_error(path, "reading");
    Mapped mapped;
    mapped.size_ = static_cast<size_t>(info.st_size);
    if (mapped.size_ == 0) return mapped;
    mapped.start_ = ::mmap(nullptr, mapped.size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped.start_ == MAP_FAILED) {
      mapped.start_ = nullptr;
      return disk_error(path, "reading");
    }
    return mapped;
  }
  Mapped(Mapped&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), size_(other.size_) {}
  Mapped& operator=(Mapped&&) = delete;
  ~Mapped() {
    if (start_ != nullptr) ::munmap(start_, size_);
  }
  std::string_view bytes() const {
    return start_ == nullptr ? std::string_view()
                             : std::string_view(static_cast<const char*>(start_), size_);
  }

 private:
  Mapped() = default;
  void* start_ = nullptr;
  size_t size_ = 0;
};

}  // namespace

Result<std::unique_ptr<Journal>> Journal::open(const std::string& folder,
                                               const std::function<Result<void>(Record)>& take,
                                               OnDisk on_disk) {
  Result<FolderLock> lock = FolderLock::take(folder);
  if (!lock) return lock.error();
  std::unique_ptr<Journal> journal(new Journal(folder, std::move(*lock), std::move(on_disk)));
  if (const Result<void> read = journal->read_all(take); !read) return read.error();
  return journal;
}

Result<void> Journal::read_all(const std::function<Result<void>(Record)>& take) {
  file_ = ::open(path().c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file_ < 0) {
    return invalid_input(fmt::format("{}: cannot be written: {}", path(), std::strerror(errno)));
  }
  const Result<Mapped> mapped = Mapped::of(file_, path());
  if (!mapped) return mapped.error();
  const Result<Scanned> scanned = scan_frames(mapped->bytes(), path());
  if (!scanned) return scanned.error();
  for (const std::string_view payload : scanned->payloads) {
    ++sequence_;
    Result<Record> record = read_record(payload);
    const Result<void> taken = record ? take(std::move(*record)) : Result<void>(record.error());
    if (!taken) {
      return Error{taken.error().kind,
                   fmt::format("{}: record {}: {}", path(), sequence_, taken.error().message)};
    }
  }
  durable_ = sequence_;
  cut_bytes_ = static_cast<int64_t>(mapped->bytes().size() - scanned->good_bytes);
  auto size = static_cast<int64_t>(scanned->good_bytes);
  if (cut_bytes_ > 0 && ::ftruncate(file_, size) != 0) return disk_error(path(), "cutting");
  if (size == 0) {
    if (const auto written = write_all(file_, kJournalStart, path()); !written) return written;
    size = static_cast<int64_t>(kJournalStart.size());
  }
  // What was read may have been in the kernel's memory alone.
  if (::fsync(file_) != 0) return disk_error(path(), "syncing");
  MutexLock lock(mutex_);
  figures_.bytes = size;
  return sync_folder(folder_);
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
    const Result<void> good = write_items(std::move(items));
    on_disk_(appended_on_disk_, good);
    if (!good) return;
  }
}

Result<void> Journal::write_items(std::vector<Item> items) {
  int64_t appended = 0;
  const auto sync = [&]() -> Result<void> {
    if (appended == 0) return {};
    if (::fdatasync(file_) != 0) return disk_error(path(), "syncing");
    durable_ = sequence_;
    appended_on_disk_ += appended;
    MutexLock lock(mutex_);
    figures_.records_total += appended;
    ++figures_.syncs_total;
    appended = 0;
    return {};
  };
  std::string bytes;
  for (const Item& item : items) {
    if (item.replacement) {
      if (const auto written = write_frames(bytes); !written) return written;
      if (const auto synced = sync(); !synced) return synced;
      if (const auto rewritten = rewrite(*item.replacement); !rewritten) return rewritten;
      continue;
    }
    add_frame(bytes, ++sequence_, durable_, to_bytes(item.record));
    ++appended;
    if (bytes.size() < kWriteBytes) continue;
    if (const auto written = write_frames(bytes); !written) return written;
  }
  if (const auto written = write_frames(bytes); !written) return written;
  return sync();
}

Result<void> Journal::write_frames(std::string& bytes) {
  const Result<void> written = write_all(file_, bytes, path());
  MutexLock lock(mutex_);
  figures_.bytes += static_cast<int64_t>(bytes.size());
  bytes.clear();
  return written;
}

// The old journal stays whole until the new one is on the disk and takes its name.
Result<void> Journal::rewrite(const std::vector<Record>& records) {
  const std::string fresh = path() + ".new";
  const int file = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return disk_error(fresh, "opening");
  ::close(std::exchange(file_, file));
  sequence_ = 0;
  // All of it is on the disk before anybody finds it under its name.
  durable_ = static_cast<int64_t>(records.size());
  {
    MutexLock lock(mutex_);
    figures_.bytes = 0;
    ++figures_.rewrites_total;
  }
  std::string bytes(kJournalStart);
  for (const Record& record : records) {
    add_frame(bytes, ++sequence_, durable_, to_bytes(record));
    if (bytes.size() < kWriteBytes) continue;
    if (const auto written = write_frames(bytes); !written) return written;
  }
  if (const auto written = write_frames(bytes); !written) return written;
  if (::fdatasync(file_) != 0) return disk_error(fresh, "syncing");
  if (std::rename(fresh.c_str(), path().c_str()) != 0) return disk_error(fresh, "renaming");
  return sync_folder(folder_);
}

}  // namespace tutti
