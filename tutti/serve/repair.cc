#include "tutti/serve/repair.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "tutti/base/file/folder_lock.h"
#include "tutti/serve/core.h"
#include "tutti/serve/journal/disk.h"
#include "tutti/serve/journal/frames.h"
#include "tutti/serve/run/job_folder.h"

namespace tutti {
namespace {

struct Recovered {
  JournalReport report;
  std::vector<Record> records{};  // in their order, consistent with each other
  int64_t next_number = 1;        // of the next job, with room for those that are lost
};

// Keeps every job, however many are over.
CoreLimits without_limits() {
  CoreLimits limits;
  limits.kept_jobs = std::numeric_limits<int64_t>::max();
  return limits;
}

// What a damaged frame's payload says it is, as far as it can be read. For display only: its
// checksum is wrong.
std::string looks_like(std::string_view bytes, const Surveyed& surveyed, const Damage& damage) {
  const size_t start = surveyed.version == 1 ? 28 : 44;
  if (damage.to - damage.from <= start) return "";
  const std::string_view payload =
      bytes.substr(damage.from + start, damage.to - damage.from - start);
  if (const Result<Record> record = read_record(payload, surveyed.version)) {
    return what_it_is(*record);
  }
  return "";
}

// Sorts out records that contradict those before them.
class Sieve {
 public:
  void take(int64_t sequence, Record record, Recovered& recovered) {
    recovered.next_number = std::max(recovered.next_number, record.job + 1);
    std::string what = what_it_is(record);
    const Result<void> taken = core_.replay(record);
    if (taken) {
      recovered.records.push_back(std::move(record));
    } else {
      recovered.report.unusable.push_back({sequence, std::move(what), taken.error().message});
    }
  }
  const Core& core() const { return core_; }

 private:
  Core core_{without_limits()};
};

// If the header is gone, it is not known whether a journal was of version 2 or 3.
Result<Record> read_record_of(const Surveyed& surveyed, std::string_view payload) {
  Result<Record> record = read_record(payload, surveyed.version);
  if (!record && !surveyed.header_good && surveyed.version == kJournalVersion) {
    if (Result<Record> older = read_record(payload, 2)) return older;
  }
  return record;
}

void take_frame(const Surveyed::Frame& frame, const Surveyed& surveyed, Sieve& sieve,
                Recovered& recovered) {
  Result<Record> record = read_record_of(surveyed, frame.payload);
  if (record) {
    sieve.take(frame.sequence, std::move(*record), recovered);
  } else {
    recovered.report.unusable.push_back({frame.sequence, "a record", record.error().message});
  }
}

void take_damage(std::string_view bytes, const Surveyed& surveyed, const Damage& damage,
                 Sieve& sieve, Recovered& recovered) {
  if (damage.last < damage.first) return;  // bytes too many, and no record missing
  if (const auto payload = with_a_bit_turned(bytes, surveyed, damage)) {
    if (Result<Record> record = read_record_of(surveyed, *payload)) {
      recovered.report.corrected.push_back(damage.first);
      sieve.take(damage.first, std::move(*record), recovered);
      return;
    }
  }
  recovered.report.lost.push_back({damage.first, damage.last, static_cast<int64_t>(damage.from),
                                   static_cast<int64_t>(damage.to),
                                   looks_like(bytes, surveyed, damage)});
}

// The jobs whose folders in runs/ are their own, by number.
std::set<int64_t> jobs_with_folder(const Recovered& recovered, const std::string& folder) {
  std::set<int64_t> jobs;
  for (const Record& record : recovered.records) {
    if (record.kind != Record::Kind::accepted) continue;
    const JobIdentity identity{.journal = recovered.report.id,
                               .job = record.id,
                               .number = record.job,
                               .accepted_ms = record.time_ms,
                               .digest = record.digest};
    if (is_folder_of(fmt::format("{}/runs/{}", folder, record.job), identity)) {
      jobs.insert(record.job);
    }
  }
  return jobs;
}

void note_jobs(const Core& core, const std::set<int64_t>& with_folder, JournalReport& report) {
  const bool lost = !report.lost.empty() || !report.unusable.empty();
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  for (const JobFacts& job : core.list({}, kAll, kAll)) {
    if (is_over(job.state)) {
      ++report.over_jobs;
      continue;
    }
    ++report.open_jobs;
    if (!lost) continue;
    report.doubtful.push_back(job.id);
    if (with_folder.contains(job.number)) report.doubtful_with_folder.insert(job.id);
  }
  std::reverse(report.doubtful.begin(), report.doubtful.end());
}

// Each record that is lost may have given a number.
int64_t numbers_lost(const JournalReport& report) {
  constexpr int64_t kOfUnknown = 1'000'000;
  constexpr int64_t kMostLost = int64_t{1} << 40;
  int64_t numbers = 0;
  for (const LostRecords& lost : report.lost) {
    numbers +=
        lost.last == kUnknownLast ? kOfUnknown : std::min(kMostLost, lost.last - lost.first + 1);
  }
  return numbers;
}

Recovered recover(std::string_view bytes, const std::string& folder) {
  const Surveyed surveyed = survey(bytes);
  Recovered recovered;
  JournalReport& report = recovered.report;
  report.path = folder + "/journal";
  report.version = surveyed.version;
  report.id = surveyed.id;
  report.bytes = static_cast<int64_t>(bytes.size());
  report.records = static_cast<int64_t>(surveyed.frames.size());
  report.promised = surveyed.promised;
  if (surveyed.damages.empty()) {
    report.tail_bytes = report.bytes - static_cast<int64_t>(surveyed.good_bytes);
  }
  if (const auto whole = check_whole(surveyed, report.path, folder); !whole) {
    report.fault = whole.error().message;
  }
  Sieve sieve;
  auto damage = surveyed.damages.begin();
  for (const Surveyed::Frame& frame : surveyed.frames) {
    for (; damage != surveyed.damages.end() && damage->from < frame.place; ++damage) {
      take_damage(bytes, surveyed, *damage, sieve, recovered);
    }
    take_frame(frame, surveyed, sieve, recovered);
  }
  for (; damage != surveyed.damages.end(); ++damage) {
    take_damage(bytes, surveyed, *damage, sieve, recovered);
  }
  // Only a mark tells that a journal was cut where a record ends.
  if (surveyed.version == 0 || (surveyed.version > 1 && surveyed.marks_good == 0)) {
    const int64_t last = surveyed.frames.empty() ? 0 : surveyed.frames.back().sequence;
    report.lost.push_back(
        {last + 1, kUnknownLast, static_cast<int64_t>(surveyed.good_bytes), report.bytes});
  }
  note_jobs(sieve.core(), jobs_with_folder(recovered, folder), report);
  if (report.fault.empty() && !report.unusable.empty()) {
    const UnusableRecord& first = report.unusable.front();
    report.fault = fmt::format("{}: record {}: {}; recover the rest with 'tutti journal repair {}'",
                               report.path, first.sequence, first.why, folder);
  }
  recovered.next_number += numbers_lost(report);
  return recovered;
}

Result<Mapped> read_journal(const std::string& folder) {
  const std::string path = folder + "/journal";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return invalid_input(
        fmt::format("{}: there is no journal that can be read: {}", path, std::strerror(errno)));
  }
  Result<Mapped> mapped = Mapped::of(file, path);
  ::close(file);
  return mapped;
}

// The first name of journal.damaged, journal.damaged.2, ... that is free.
std::string free_name(const std::string& folder) {
  for (int i = 1;; ++i) {
    std::string name = i == 1 ? "journal.damaged" : fmt::format("journal.damaged.{}", i);
    struct stat info {};
    if (::lstat((folder + "/" + name).c_str(), &info) != 0) return name;
  }
}

}  // namespace

Result<JournalReport> check_journal(const std::string& folder) {
  const Result<Mapped> mapped = read_journal(folder);
  if (!mapped) return mapped.error();
  return recover(mapped->bytes(), folder).report;
}

Result<JournalReport> repair_journal(const std::string& folder) {
  const Result<Mapped> mapped = read_journal(folder);  // before a lock would make the folder
  if (!mapped) return mapped.error();
  const Result<FolderLock> lock = FolderLock::take(folder);
  if (!lock) return lock.error();
  Recovered recovered = recover(mapped->bytes(), folder);
  JournalReport& report = recovered.report;
  if (report.version > kJournalVersion) return invalid_input(report.fault);
  if (report.fault.empty()) return report;
  std::string id = report.id;
  if (id.empty()) {
    Result<std::string> fresh = fresh_journal_id();
    if (!fresh) return fresh.error();
    id = std::move(*fresh);
  }
  recovered.records.push_back({.kind = Record::Kind::numbered, .job = recovered.next_number});
  const std::string kept = free_name(folder);
  const Result<WrittenJournal> written = write_journal(folder, id, recovered.records, kept);
  if (!written) return written.error();
  ::close(written->file);
  report.id = id;
  report.kept_as = folder + "/" + kept;
  return report;
}

void write_report(const JournalReport& report, JsonWriter& json) {
  json.open_object().field("schema_version", 2).field("journal", report.path);
  json.field("good", report.fault.empty()).field("version", report.version);
  json.field("id", report.id).field("bytes", report.bytes).field("records", report.records);
  json.field("promised", report.promised).field("tail_bytes", report.tail_bytes);
  json.field("open_jobs", report.open_jobs).field("over_jobs", report.over_jobs);
  json.field("fault", report.fault).key("lost").open_list();
  for (const LostRecords& lost : report.lost) {
    json.open_object().field("first", lost.first);
    json.key("last");
    if (lost.last == kUnknownLast) {
      json.null();
    } else {
      json.value(lost.last);
    }
    json.field("from_byte", lost.from_byte).field("to_byte", lost.to_byte);
    json.field("looks_like", lost.looks_like).close_object();
  }
  json.close_list().key("corrected").open_list();
  for (const int64_t sequence : report.corrected) json.value(sequence);
  json.close_list().key("unusable").open_list();
  for (const UnusableRecord& one : report.unusable) {
    json.open_object().field("record", one.sequence).field("what", one.what);
    json.field("why", one.why).close_object();
  }
  json.close_list().key("doubtful").open_list();
  for (const std::string& id : report.doubtful) json.value(id);
  json.close_list().field("kept_as", report.kept_as).close_object();
}

}  // namespace tutti
