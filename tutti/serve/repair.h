// Checks a journal that no server has open, and recovers the intact records of a damaged one.
//
// Nothing is guessed: a record is taken if its checksum is right, or if flipping a single bit makes
// it right. Every record that was acknowledged and is not recovered is reported.

#ifndef TUTTI_SERVE_REPAIR_H_
#define TUTTI_SERVE_REPAIR_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/result.h"

namespace tutti {

inline constexpr int64_t kUnknownLast = -1;

// Records that were acknowledged and are missing or damaged.
struct LostRecords {
  int64_t first = 0;
  int64_t last = 0;  // kUnknownLast: all behind `first`, if there were any
  int64_t from_byte = 0;
  int64_t to_byte = 0;
  std::string looks_like{};  // what the damaged bytes say they are; empty: nothing readable
};

// An intact record that cannot be used, since others are lost.
struct UnusableRecord {
  int64_t sequence = 0;
  std::string what;
  std::string why;
};

struct JournalReport {
  std::string path;
  int version = 0;
  std::string id{};  // empty in version 1
  int64_t bytes = 0;
  int64_t records = 0;     // intact ones
  int64_t promised = 0;    // the last that was acknowledged
  int64_t tail_bytes = 0;  // behind them, of records that were never acknowledged
  int64_t open_jobs = 0;
  int64_t over_jobs = 0;
  std::string fault{};  // why no server starts on it, one sentence; empty: a server starts
  std::vector<LostRecords> lost{};
  std::vector<int64_t> corrected{};  // records that were recovered by flipping one bit
  std::vector<UnusableRecord> unusable{};
  // If records are lost: jobs that are open as far as is known. Some may have been over, and will
  // be started again.
  std::vector<std::string> doubtful{};
  // Those of them that have a folder of their own (run/job_folder.h): commands that it records as
  // done do not run again.
  std::set<std::string> doubtful_with_folder{};
  std::string kept_as{};  // where repair left the old one; empty: nothing was changed
};

// Of the journal in that folder. Changes nothing; a server may be using it. Fails
// (invalid_input) if there is none.
Result<JournalReport> check_journal(const std::string& folder);

// Replaces a damaged journal by what can be recovered of it, atomically, and keeps the old one in
// the same folder. A journal without fault is left as it is. New jobs get numbers above all that
// may have been given. Fails (invalid_input) if there is no journal, or if a server is using it.
Result<JournalReport> repair_journal(const std::string& folder);

void write_report(const JournalReport& report, JsonWriter& json);

}  // namespace tutti

#endif  // TUTTI_SERVE_REPAIR_H_
