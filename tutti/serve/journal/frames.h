// The bytes of a journal (docs/formats/server-journal.md): a header of 4096 bytes, then frames,
// each a record with a checksum.
//
//   header: a line with the version and the journal's id; at bytes 1024 and 2048 a mark each
//   frame:  length (4 bytes, of the payload), sequence (8), durable (8), id (16), checksum (8),
//   payload
//
// Numbers are stored least byte first. `sequence` counts frames from 1. `durable` is the last frame
// that was known to be on the disk when this one was written. The checksum is of all the rest.
//
// A mark says up to which frame records have been acknowledged (promised): it is written after the
// disk has them, and is on the disk itself before any client gets its reply. Two marks alternate,
// so that one is intact whenever the power fails. Marks are in front of the frames, so that a copy
// of a journal that is being written contains all frames that its mark covers.
//
// A damaged frame behind the last promised one was never acknowledged, and is cut off. All else
// that is missing or damaged is an error. Every frame has the id, so that those behind a header
// that is gone can still be told from others.
//
// Journals of version 1 (tutti 0.1) have no id and no marks, and a header of one line. Version 2
// has the frames of version 3; its records lack deadline and work (record.h).

#ifndef TUTTI_SERVE_JOURNAL_FRAMES_H_
#define TUTTI_SERVE_JOURNAL_FRAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/result.h"

namespace tutti {

inline constexpr int kJournalVersion = 3;
inline constexpr std::string_view kJournalStart1 = "tutti-journal 1\n";
inline constexpr size_t kJournalHeader = 4096;

// 32 hexadecimal digits that no other journal has.
Result<std::string> fresh_journal_id();

// The last frame that was promised, and where it ends.
struct Mark {
  int64_t sequence = 0;
  int64_t bytes = static_cast<int64_t>(kJournalHeader);
};

// All of the header, with both marks.
std::string journal_header(const std::string& id, const Mark& mark);
// A mark alone, and where the first (0) or second (1) of them is.
std::string mark_text(const std::string& id, const Mark& mark);
size_t mark_place(int which);

void add_frame(std::string& bytes, const std::string& id, int64_t sequence, int64_t durable,
               std::string_view payload);
// As tutti 0.1 did.
void add_frame_1(std::string& bytes, int64_t sequence, int64_t durable, std::string_view payload);

// Frames `first` to `last` were promised and are not there whole. What is there instead are the
// bytes from `from` up to `to`.
struct Damage {
  int64_t first = 0;
  int64_t last = 0;  // before `first`: nothing is missing, bytes are too many
  size_t from = 0;
  size_t to = 0;
};

// What is there of a journal, whatever has happened to it.
struct Surveyed {
  struct Frame {
    int64_t sequence = 0;
    size_t place = 0;
    std::string_view payload{};  // points into the bytes
  };
  int version = 0;   // 0: nothing looks like a journal; above ours: nothing else is known
  std::string id{};  // not of version 1
  bool header_good = false;
  int marks_good = 0;    // of two
  int older_mark = 0;    // where the next goes
  int64_t promised = 0;  // the last frame that was, as far as marks and frames tell
  std::vector<Frame> frames{};
  std::vector<Damage> damages{};
  size_t good_bytes = 0;  // what is behind them has to be cut off
};

Surveyed survey(std::string_view bytes);

// Fails (invalid_input) with a sentence that names the file and the remedy unless the journal can
// be gone on with: it is one, and nothing that was promised is missing. `folder` is for the remedy.
Result<void> check_whole(const Surveyed& surveyed, const std::string& name,
                         const std::string& folder);

// The payload of a damaged frame, if turning one of its bits over makes it whole. Tries them all
// where they are few (8 KiB).
std::optional<std::string> with_a_bit_turned(std::string_view bytes, const Surveyed& surveyed,
                                             const Damage& damage);

}  // namespace tutti

#endif  // TUTTI_SERVE_JOURNAL_FRAMES_H_
