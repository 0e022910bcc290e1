// The digest of a trace: over everything that a trace file says, but for what viewers alone look
// at. It stands in the file's header, so that a file that was changed after it was written is
// noticed. It is no signature: a digest can be worked out anew by whoever changes the file.

#ifndef TUTTI_TRACE_DIGEST_H_
#define TUTTI_TRACE_DIGEST_H_

#include <cstdint>

#include "tutti/trace/trace.h"

namespace tutti {

// Depends on the order of the spans.
uint64_t trace_digest(const Trace& trace);

}  // namespace tutti

#endif  // TUTTI_TRACE_DIGEST_H_
