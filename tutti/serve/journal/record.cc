#include "tutti/serve/journal/record.h"

#include <fmt/format.h>

#include <limits>

namespace tutti {
namespace {

void add_whole(std::string& bytes, uint64_t number) {
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

void add_whole(std::string& bytes, int64_t number) {
  add_whole(bytes, static_cast<uint64_t>(number));
}

void add_text(std::string& bytes, std::string_view text) {
  add_whole(bytes, static_cast<uint64_t>(text.size()));
  bytes.append(text);
}

// Takes fields off the front. After the first that does not fit, nothing does.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  uint8_t byte() {
    if (left_.empty()) {
      good_ = false;
      return 0;
    }
    const auto first = static_cast<uint8_t>(left_[0]);
    left_.remove_prefix(1);
    return first;
  }

  uint64_t unsigned_whole() {
    uint64_t number = 0;
    for (int i = 0; i < 8; ++i) number |= static_cast<uint64_t>(byte()) << (8 * i);
    return number;
  }

  int64_t whole(int64_t least, int64_t most) {
    const auto number = static_cast<int64_t>(unsigned_whole());
    good_ = good_ && number >= least && number <= most;
    return good_ ? number : least;
  }

  int32_t small_whole(int32_t least) {
    return static_cast<int32_t>(whole(least, std::numeric_limits<int32_t>::max()));
  }

  std::string text() {
    const uint64_t size = unsigned_whole();
    good_ = good_ && size <= left_.size();
    if (!good_) return {};
    std::string text(left_.substr(0, size));
    left_.remove_prefix(size);
    return text;
  }

  // All fields fitted and none is left.
  bool done() const { return good_ && left_.empty(); }

 private:
  std::string_view left_;
  bool good_ = true;
};

constexpr int64_t kLast = std::numeric_limits<int64_t>::max() / 2;  // of numbers and times

void read_accepted(Reader& reader, int version, Record& record) {
  record.id = reader.text();
  record.priority = reader.small_whole(-kMostPriority);
  record.graph = reader.text();
  record.ops = reader.small_whole(0);
  record.attempts = reader.small_whole(0);
  record.started_ms = reader.whole(-kLast, kLast);
  record.digest = reader.unsigned_whole();
  record.content = std::make_shared<const std::string>(reader.text());
  if (version > 1) record.client = reader.text();
  if (version < 3) return;
  record.deadline_ms = reader.whole(0, kLast);
  record.work = Duration(reader.whole(0, kNever.count()));
  record.commands = reader.whole(0, 1) != 0;
}

void read_outcome(Reader& reader, Outcome& outcome) {
  const auto first = static_cast<int64_t>(JobState::done);
  const auto last = static_cast<int64_t>(JobState::cancelled);
  outcome.state = static_cast<JobState>(reader.whole(first, last));
  outcome.makespan = Duration(reader.whole(0, kNever.count()));
  outcome.message = reader.text();
}

}  // namespace

std::string to_bytes(const Record& record) {
  std::string bytes;
  bytes.push_back(static_cast<char>(record.kind));
  add_whole(bytes, record.job);
  add_whole(bytes, record.time_ms);
  if (record.kind == Record::Kind::accepted) {
    add_text(bytes, record.id);
    add_whole(bytes, int64_t{record.priority});
    add_text(bytes, record.graph);
    add_whole(bytes, int64_t{record.ops});
    add_whole(bytes, int64_t{record.attempts});
    add_whole(bytes, record.started_ms);
    add_whole(bytes, record.digest);
    add_text(bytes, record.content == nullptr ? std::string_view() : *record.content);
    add_text(bytes, record.client);
    add_whole(bytes, record.deadline_ms);
    add_whole(bytes, record.work.count());
    add_whole(bytes, int64_t{record.commands});
  }
  if (record.kind == Record::Kind::ended) {
    add_whole(bytes, static_cast<int64_t>(record.outcome.state));
    add_whole(bytes, static_cast<int64_t>(record.outcome.makespan.count()));
    add_text(bytes, record.outcome.message);
  }
  return bytes;
}

Result<Record> read_record(std::string_view bytes, int version) {
  Reader reader(bytes);
  Record record;
  const uint8_t kind = reader.byte();
  record.kind = static_cast<Record::Kind>(kind);
  record.job = reader.whole(1, kLast);
  record.time_ms = reader.whole(-kLast, kLast);
  if (record.kind == Record::Kind::accepted) read_accepted(reader, version, record);
  if (record.kind == Record::Kind::ended) read_outcome(reader, record.outcome);
  if (kind < 1 || kind > static_cast<uint8_t>(Record::Kind::returned) || !reader.done()) {
    return invalid_input("a record of a kind that this tutti does not know");
  }
  return record;
}

std::string what_it_is(const Record& record) {
  switch (record.kind) {
    case Record::Kind::numbered:
      return fmt::format("that job {} is the next", record.job);
    case Record::Kind::accepted:
      return one_line(fmt::format("the acceptance of job {} ('{}')", record.job, record.id));
    case Record::Kind::started:
      return fmt::format("the start of job {}", record.job);
    case Record::Kind::ended:
      return fmt::format("the end of job {} ({})", record.job, to_text(record.outcome.state));
    case Record::Kind::cancel:
      return fmt::format("that job {} is to be cancelled", record.job);
    case Record::Kind::returned:
      return fmt::format("that job {} was put back into the queue", record.job);
  }
  return "";
}

}  // namespace tutti
