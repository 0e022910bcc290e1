// A Record is one thing that happened to jobs, as the journal keeps it. What the server knew can be
// worked out again from its records alone (core.h).
//
// As bytes: the kind, then its fields in the order below; whole numbers are 8 bytes, least first,
// texts their length and their bytes. A kind or a field more is a new version of the journal.
//
// Times are whatever the clock said, before 1970 too: nothing is worked out from them.

#ifndef TUTTI_SERVE_JOURNAL_RECORD_H_
#define TUTTI_SERVE_JOURNAL_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tutti/serve/journal/job.h"

namespace tutti {

struct Record {
  enum class Kind : uint8_t {
    numbered = 1,  // `job`: the number of the next job
    accepted = 2,  // all but `outcome`
    started = 3,   // job, time_ms
    ended = 4,     // job, time_ms, outcome
    cancel = 5,    // job, time_ms: a client asked for it
    returned = 6,  // job, time_ms: its run was stopped with the server; the attempt does not count
  };
  Kind kind = Kind::numbered;
  int64_t job = 0;
  int64_t time_ms = 0;

  // Of a job that was accepted. Attempts and the last start are not 0 in a journal that was
  // rewritten; the content is empty there if the job is over.
  std::string id{};
  int32_t priority = 0;
  std::string graph{};
  int32_t ops = 0;
  int32_t attempts = 0;
  int64_t started_ms = 0;
  uint64_t digest = 0;  // of priority and content: what makes two submissions the same
  Content content{};
  std::string client{};  // whose token it came with; not in version 1
  // Not in versions 1 and 2. The deadline is 0 if there is none; the work is 0 if it is not known.
  int64_t deadline_ms = 0;
  Duration work{0};
  bool commands = false;

  Outcome outcome{};
};

std::string to_bytes(const Record& record);

// Of a journal of that version. Fails (invalid_input) on bytes that are no record.
Result<Record> read_record(std::string_view bytes, int version);

// "the acceptance of job 7 ('night-1')"
std::string what_it_is(const Record& record);

}  // namespace tutti

#endif  // TUTTI_SERVE_JOURNAL_RECORD_H_
