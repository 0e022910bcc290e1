// The digest of a trace: over everything that a trace file says, except what only viewers read. It
// is in the file's header, so that a change of the file after it was written is noticed. It is no
// signature: a program that changes the file can compute the digest again.

#ifndef TUTTI_TRACE_FILE_DIGEST_H_
#define TUTTI_TRACE_FILE_DIGEST_H_

#include <cstdint>
#include <string_view>

#include "tutti/trace/trace.h"

namespace tutti {

// The names in the header, which a trace does not have.
struct TraceNames {
  std::string_view graph;
  std::string_view machine;
};

// As files of that schema_version have it: before 3, without the names. Depends on the order of the
// spans.
uint64_t trace_digest(const Trace& trace, const TraceNames& names, int64_t version);

}  // namespace tutti

#endif  // TUTTI_TRACE_FILE_DIGEST_H_
