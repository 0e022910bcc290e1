#include "tutti/serve/journal/disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tutti/serve/journal/frames.h"

namespace tutti {
namespace {

// Frames are gathered up to about this much before they are handed to the kernel.
constexpr size_t kGatheredBytes = size_t{1} << 20;

// A new name in a folder is on the disk once the folder is.
Result<void> sync_folder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool good = file >= 0 && ::fsync(file) == 0;
  const Error error = disk_error(folder, "syncing");
  if (file >= 0) ::close(file);
  if (!good) return error;
  return {};
}

Result<int64_t> write_records(int file, const std::string& id, const std::vector<Record>& records,
                              const std::string& path) {
  const auto count = static_cast<int64_t>(records.size());
  std::string bytes(kJournalHeader, '\0');  // the header comes last: its mark says where all ends
  int64_t place = 0;
  int64_t sequence = 0;
  const auto flush = [&]() -> Result<void> {
    const Result<void> written = write_all(file, bytes, place, path);
    place += static_cast<int64_t>(bytes.size());
    bytes.clear();
    return written;
  };
  for (const Record& record : records) {
    add_frame(bytes, id, ++sequence, count, to_bytes(record));
    if (bytes.size() < kGatheredBytes) continue;
    if (const auto written = flush(); !written) return written.error();
  }
  if (const auto written = flush(); !written) return written.error();
  const std::string header = journal_header(id, {count, place});
  if (const auto written = write_all(file, header, 0, path); !written) return written.error();
  if (::fdatasync(file) != 0) return disk_error(path, "syncing");
  return place;
}

}  // namespace

Error disk_error(const std::string& path, const char* what) {
  return failed(fmt::format("{}: {} failed: {}", path, what, std::strerror(errno)));
}

Result<void> write_all(int file, std::string_view bytes, int64_t place, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), place);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return disk_error(path, "writing");
    bytes.remove_prefix(static_cast<size_t>(count));
    place += count;
  }
  return {};
}

Result<Mapped> Mapped::of(int file, const std::string& path) {
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

Mapped::~Mapped() {
  if (start_ != nullptr) ::munmap(start_, size_);
}

Result<WrittenJournal> write_journal(const std::string& folder, const std::string& id,
                                     const std::vector<Record>& records,
                                     const std::string& keep_as) {
  const std::string path = folder + "/journal";
  const std::string fresh = path + ".new";
  const int file = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return disk_error(fresh, "opening");
  const auto give_up = [&](const Error& error) -> Result<WrittenJournal> {
    ::close(file);
    ::unlink(fresh.c_str());
    return error;
  };
  const Result<int64_t> bytes = write_records(file, id, records, fresh);
  if (!bytes) return give_up(bytes.error());
  if (!keep_as.empty() && ::link(path.c_str(), (folder + "/" + keep_as).c_str()) != 0) {
    return give_up(disk_error(folder + "/" + keep_as, "keeping the old journal"));
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) {
    return give_up(disk_error(fresh, "renaming"));
  }
  if (const Result<void> synced = sync_folder(folder); !synced) {
    ::close(file);
    return synced.error();
  }
  return WrittenJournal{file, *bytes};
}

}  // namespace tutti
