// Looks at a journal that no server has open, and recovers what is whole of one that is damaged.
//
// Nothing is guessed: a record is taken if its checksum is right, or if turning one single bit over
// makes it right. Whatever was promised and is not recovered is named.

#ifndef TUTTI_SERVE_REPAIR_H_
#define TUTTI_SERVE_REPAIR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/result.h"

namespace tutti {

inline constexpr int64_t kNobodyKnows = -1;

// Records that were promised and are not there whole.
struct LostRecords {
  int64_t first = 0;
  int64_t last = 0;  // kNobodyKnows: whatever there was behind `first`, and maybe nothing
  int64_t from_byte = 0;
  int64_t to_byte = 0;
  std::string looks_like{};  // what the damaged bytes say they are; empty: nothing readable
};

// A record that is whole but cannot be used, since others are lost.
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
  int64_t records = 0;     // that are whole
  int64_t promised = 0;    // the last that was
  int64_t tail_bytes = 0;  // behind them; nobody was promised what they were
  int64_t open_jobs = 0;
  int64_t over_jobs = 0;
  std::string fault{};  // why no server starts on it, in a sentence; empty: one does
  std::vector<LostRecords> lost{};
  std::vector<int64_t> mended{};  // records with one bit turned over
  std::vector<UnusableRecord> unusable{};
  // If records are lost: jobs that are open as far as is known. Some may have been over, and will
  // be run again.
  std::vector<std::string> doubtful{};
  std::string kept_as{};  // where repair left the old one; empty: nothing was changed
};

// Of the journal in that folder. Changes nothing; a server may be at work there. Fails
// (invalid_input) if there is none.
Result<JournalReport> check_journal(const std::string& folder);

// Writes what can be recovered in the place of a damaged journal, in one step, and keeps the old
// one beside it. A journal without fault is left as it is. Numbers of jobs go on above all that may
// have been given. Fails (invalid_input) if there is no journal, or if a server is at work there.
Result<JournalReport> repair_journal(const std::string& folder);

void write_report(const JournalReport& report, JsonWriter& json);

}  // namespace tutti

#endif  // TUTTI_SERVE_REPAIR_H_
