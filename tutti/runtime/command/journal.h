// The journal of a run of commands: what was begun and what has ended, a line each, so that a run
// that was killed can be completed. docs/formats/journal.md.
//
// It is only ever added to. An end is on disk before the run goes on, so that an op that is
// recorded as done has been done, whatever happens next; an op that was begun and has no end may
// have done anything. The last line may be torn, and then does not count.

#ifndef TUTTI_RUNTIME_COMMAND_JOURNAL_H_
#define TUTTI_RUNTIME_COMMAND_JOURNAL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/base/mutex.h"
#include "tutti/base/time.h"

namespace tutti {

// Of what the run is: it can be completed only where all of these are as they were.
struct JournalHead {
  uint64_t graph = 0;  // fingerprints
  uint64_t commands = 0;
  uint64_t machine = 0;
  uint64_t plan = 0;  // 0: decided by an online policy
  friend bool operator==(const JournalHead&, const JournalHead&) = default;
};

struct JournalEntry {
  std::string op;
  int64_t attempt = 1;  // of all runs together
  bool ended = false;   // or begun
  // Of an end.
  bool good = false;
  std::string how{};
  Duration run_time{0};
  Duration cpu_time{0};
  int64_t peak_memory_bytes = 0;
};

struct JournalText {
  JournalHead head;
  std::vector<JournalEntry> entries;
  int64_t whole_bytes = 0;  // without a torn last line
};

// Fails (invalid_input) with file and line on what is no journal.
Result<JournalText> read_journal(Source& source);

class CommandJournal {
 public:
  // A new one, of that head, in the place of any other.
  static Result<CommandJournal> begin(const std::string& path, const JournalHead& head);
  // One that was read: what was torn is cut off, and the rest added to.
  static Result<CommandJournal> go_on(const std::string& path, const JournalText& text);

  CommandJournal(CommandJournal&& other) noexcept
      : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), size_(other.size_) {}
  CommandJournal& operator=(CommandJournal&&) = delete;
  ~CommandJournal();

  // Several threads may call. What has ended is on disk on return.
  Result<void> add(const JournalEntry& entry);

 private:
  CommandJournal(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;
  Mutex mutex_;
  int64_t size_ GUARDED_BY(mutex_) = 0;  // of whole lines
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_COMMAND_JOURNAL_H_
