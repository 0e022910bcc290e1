// A journal's file: reading it as it is, and putting a new one in its place in a single step.

#ifndef TUTTI_SERVE_JOURNAL_DISK_H_
#define TUTTI_SERVE_JOURNAL_DISK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/serve/journal/record.h"

namespace tutti {

// With what the system says went wrong.
Error disk_error(const std::string& path, const char* what);

// At that place of the file.
Result<void> write_all(int file, std::string_view bytes, int64_t place, const std::string& path);

// A file's bytes for as long as it lives.
class Mapped {
 public:
  static Result<Mapped> of(int file, const std::string& path);
  Mapped(Mapped&& other) noexcept
      : start_(std::exchange(other.start_, nullptr)), size_(other.size_) {}
  Mapped& operator=(Mapped&&) = delete;
  ~Mapped();
  std::string_view bytes() const {
    return start_ == nullptr ? std::string_view()
                             : std::string_view(static_cast<const char*>(start_), size_);
  }

 private:
  Mapped() = default;
  void* start_ = nullptr;
  size_t size_ = 0;
};

struct WrittenJournal {
  int file = -1;  // open for reading and writing; the caller closes it
  int64_t bytes = 0;
};

// Makes `folder`/journal a journal of that id with these records alone. All of it is on the disk
// before it takes its name, and what was there before stays whole until then; with `keep_as` it
// stays under that name of the folder for good.
Result<WrittenJournal> write_journal(const std::string& folder, const std::string& id,
                                     const std::vector<Record>& records,
                                     const std::string& keep_as = {});

}  // namespace tutti

#endif  // TUTTI_SERVE_JOURNAL_DISK_H_
