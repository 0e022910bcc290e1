// The bytes of a journal: a line that says what it is, then frames, each a record with a checksum.
//
//   length (4 bytes, of the payload), sequence (8), durable (8), checksum (8), payload
//
// Numbers are stored least byte first. `sequence` counts frames from 1. `durable` is the last frame
// that was known to be on the disk when this one was written. The checksum is of all the rest.
//
// A process that dies, or a computer that loses power, leaves at most a tail of frames that nobody
// was promised: it is cut off. `durable` tells such a tail from damage: a frame that was on the
// disk and is not whole now was promised, and no journal is read past it.

#ifndef TUTTI_SERVE_JOURNAL_FRAMES_H_
#define TUTTI_SERVE_JOURNAL_FRAMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/result.h"

namespace tutti {

inline constexpr std::string_view kJournalStart = "tutti-journal 1\n";

void add_frame(std::string& bytes, int64_t sequence, int64_t durable, std::string_view payload);

struct Scanned {
  std::vector<std::string_view> payloads{};  // of the whole frames; they point into the bytes
  size_t good_bytes = 0;                     // what is behind them has to be cut off
};

// `bytes` are all of a journal. Fails (invalid_input) with a sentence that names it if it is none,
// or if it is damaged.
Result<Scanned> scan_frames(std::string_view bytes, const std::string& name);

}  // namespace tutti

#endif  // TUTTI_SERVE_JOURNAL_FRAMES_H_
