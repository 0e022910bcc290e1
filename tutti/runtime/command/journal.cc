#include "tutti/runtime/command/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tutti/base/fields.h"
#include "tutti/base/fingerprint.h"
#include "tutti/base/json_lines.h"
#include "tutti/base/json_writer.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

constexpr size_t kLongestLine = size_t{1} << 24;
constexpr int64_t kMostAttempts = int64_t{1} << 40;

std::string line_of(const JournalHead& head) {
  JsonWriter json(/*inline_depth=*/0);
  json.open_object().field("format", "tutti-journal").field("schema_version", 1);
  json.field("graph_fingerprint", fingerprint_text(head.graph));
  json.field("commands_fingerprint", fingerprint_text(head.commands));
  json.field("machine_fingerprint", fingerprint_text(head.machine));
  if (head.plan != 0) json.field("plan_fingerprint", fingerprint_text(head.plan));
  json.close_object();
  return json.take();
}

std::string line_of(const JournalEntry& entry) {
  JsonWriter json(/*inline_depth=*/0);
  json.open_object().field("event", entry.ended ? "end" : "start").field("op", entry.op);
  json.field("attempt", entry.attempt);
  if (entry.ended) {
    json.field("good", entry.good).field("how", entry.how).field("run_time_ns", entry.run_time);
    json.field("cpu_time_ns", entry.cpu_time);
    json.field("peak_memory_bytes", entry.peak_memory_bytes);
  }
  json.close_object();
  return json.take();
}

uint64_t fingerprint_from(Fields& fields, std::string_view key, bool required) {
  const std::string text = required ? fields.text(key) : fields.text(key, "");
  if (text.empty() && !required) return 0;
  uint64_t number = 0;
  bool good = text.size() == 16;
  for (const char c : text) {
    const size_t digit = std::string_view("0123456789abcdef").find(c);
    good = good && digit != std::string_view::npos;
    number = number << 4 | (digit & 15);
  }
  if (!good) fields.fail(fmt::format("\"{}\" must be 16 hexadecimal digits", key));
  return number;
}

Result<JournalHead> head_from(const Document& line, const std::string& file) {
  Fields fields(line, file, "the journal");
  if (fields.text("format") != "tutti-journal") fields.fail("format must be \"tutti-journal\"");
  fields.schema_version(1);
  JournalHead head;
  head.graph = fingerprint_from(fields, "graph_fingerprint", /*required=*/true);
  head.commands = fingerprint_from(fields, "commands_fingerprint", /*required=*/true);
  head.machine = fingerprint_from(fields, "machine_fingerprint", /*required=*/true);
  head.plan = fingerprint_from(fields, "plan_fingerprint", /*required=*/false);
  if (auto done = fields.done(); !done) return done.error();
  return head;
}

Result<JournalEntry> entry_from(const Document& line, const std::string& file) {
  Fields fields(line, file, "the event");
  JournalEntry entry;
  entry.ended = fields.choice("event", {"start", "end"}) == 1;
  entry.op = fields.text("op");
  entry.attempt = fields.integer("attempt", {.least = 1, .most = kMostAttempts});
  if (entry.ended) {
    entry.good = fields.boolean("good", false);
    entry.how = fields.text("how", "");
    const Fields::Whole time = {.fallback = 0, .most = kLongestTimeNs};
    entry.run_time = Duration(fields.integer("run_time_ns", time));
    entry.cpu_time = Duration(fields.integer("cpu_time_ns", time));
    entry.peak_memory_bytes =
        fields.integer("peak_memory_bytes", {.fallback = 0, .most = kMostBytes});
  }
  if (auto done = fields.done(); !done) return done.error();
  return entry;
}

Error cannot(const char* what, const std::string& path) {
  return failed(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

// The name of a new file is on disk once its folder is.
bool sync_folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const int folder =
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  const bool good = ::fsync(folder) == 0;
  ::close(folder);
  return good;
}

}  // namespace

Result<JournalText> read_journal(Source& source) {
  const std::string file = source.name();
  JournalText text;
  bool has_head = false;
  for (;;) {
    const Result<JsonLine> line = next_json_line(
        source, kLongestLine, "no journal has such: give the folder of a run of commands");
    if (!line) return line.error();
    if (!line->whole) break;  // torn, or the end
    const Result<Document> document = read_json_line(*line, file);
    if (!document) return document.error();
    if (!has_head) {
      const Result<JournalHead> head = head_from(*document, file);
      if (!head) return head.error();
      text.head = *head;
      has_head = true;
    } else {
      Result<JournalEntry> entry = entry_from(*document, file);
      if (!entry) return entry.error();
      text.entries.push_back(std::move(*entry));
    }
    text.whole_bytes += static_cast<int64_t>(line->text.size()) + 1;
  }
  if (has_head) return text;
  return invalid_input(file + ": holds no whole line of a journal; remove it to begin again");
}

// The head is written to another file and moved into place, so that there is never a journal
// without one.
Result<CommandJournal> CommandJournal::begin(const std::string& path, const JournalHead& head) {
  const std::string temporary = path + ".new";
  CommandJournal journal(
      path, ::open(temporary.c_str(),
                   O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (journal.file_ < 0) return cannot("cannot be written", path);
  const std::string line = line_of(head);
  if (!write_all(journal.file_, line) || ::fsync(journal.file_) != 0 ||
      ::rename(temporary.c_str(), path.c_str()) != 0 || !sync_folder_of(path)) {
    return cannot("writing failed", path);
  }
  {
    const MutexLock lock(journal.mutex_);  // no other thread has it yet; the analysis cannot know
    journal.size_ = static_cast<int64_t>(line.size());
  }
  return journal;
}

Result<CommandJournal> CommandJournal::go_on(const std::string& path, const JournalText& text) {
  CommandJournal journal(path, ::open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  if (journal.file_ < 0) return cannot("cannot be written", path);
  if (::ftruncate(journal.file_, static_cast<off_t>(text.whole_bytes)) != 0) {
    return cannot("writing failed", path);
  }
  {
    const MutexLock lock(journal.mutex_);
    journal.size_ = text.whole_bytes;
  }
  return journal;
}

CommandJournal::~CommandJournal() {
  if (file_ >= 0) ::close(file_);
}

Result<void> CommandJournal::add(const JournalEntry& entry) {
  const std::string line = line_of(entry);
  const MutexLock lock(mutex_);
  if (!write_all(file_, line) || (entry.ended && ::fdatasync(file_) != 0)) {
    const Error error = cannot("writing failed", path_);
    // Half a line before others would spoil them all.
    [[maybe_unused]] const int cut = ::ftruncate(file_, static_cast<off_t>(size_));
    return error;
  }
  size_ += static_cast<int64_t>(line.size());
  return {};
}

}  // namespace tutti
