#include "tutti/serve/journal/frames.h"

#include <fmt/format.h>

#include <optional>

#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

constexpr size_t kFrameStart = 4 + 8 + 8 + 8;  // bytes before the payload

void add_number(std::string& bytes, uint64_t number, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(number >> (8 * i)));
}

uint64_t number_at(std::string_view bytes, size_t place, int size) {
  uint64_t number = 0;
  for (int i = 0; i < size; ++i) {
    number |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[place + static_cast<size_t>(i)]))
              << (8 * i);
  }
  return number;
}

uint64_t checksum_of(int64_t sequence, int64_t durable, std::string_view payload) {
  Fingerprint fingerprint;
  fingerprint.add(sequence);
  fingerprint.add(durable);
  fingerprint.add(payload);
  return fingerprint.value();
}

struct Frame {
  int64_t sequence = 0;
  int64_t durable = 0;
  std::string_view payload;
};

// The frame that begins there with a sequence from `least` to `most`; none if there is no whole
// one.
std::optional<Frame> frame_at(std::string_view bytes, size_t place, int64_t least, int64_t most) {
  if (bytes.size() - place < kFrameStart) return std::nullopt;
  const uint64_t length = number_at(bytes, place, 4);
  if (length > bytes.size() - place - kFrameStart) return std::nullopt;
  Frame frame{static_cast<int64_t>(number_at(bytes, place + 4, 8)),
              static_cast<int64_t>(number_at(bytes, place + 12, 8)),
              bytes.substr(place + kFrameStart, length)};
  if (frame.sequence < least || frame.sequence > most) return std::nullopt;
  const uint64_t checksum = checksum_of(frame.sequence, frame.durable, frame.payload);
  if (checksum != number_at(bytes, place + 20, 8)) return std::nullopt;
  return frame;
}

// True if some frame behind `place` knows that the frame `sequence` was on the disk.
bool was_durable(std::string_view bytes, size_t place, int64_t sequence) {
  const auto most = sequence + static_cast<int64_t>((bytes.size() - place) / kFrameStart) + 1;
  for (size_t at = place + 1; bytes.size() - at >= kFrameStart; ++at) {
    const auto frame = frame_at(bytes, at, sequence + 1, most);
    if (frame && frame->durable >= sequence) return true;
  }
  return false;
}

}  // namespace

void add_frame(std::string& bytes, int64_t sequence, int64_t durable, std::string_view payload) {
  add_number(bytes, payload.size(), 4);
  add_number(bytes, static_cast<uint64_t>(sequence), 8);
  add_number(bytes, static_cast<uint64_t>(durable), 8);
  add_number(bytes, checksum_of(sequence, durable, payload), 8);
  bytes.append(payload);
}

Result<Scanned> scan_frames(std::string_view bytes, const std::string& name) {
  if (bytes.size() < kJournalStart.size() && kJournalStart.starts_with(bytes)) return Scanned{};
  if (!bytes.starts_with(kJournalStart)) {
    return invalid_input(
        name + ": is no journal that this tutti writes; move it away, or name another folder");
  }
  Scanned scanned{.good_bytes = kJournalStart.size()};
  for (int64_t sequence = 1; scanned.good_bytes < bytes.size(); ++sequence) {
    const auto frame = frame_at(bytes, scanned.good_bytes, sequence, sequence);
    if (!frame) {
      if (!was_durable(bytes, scanned.good_bytes, sequence)) break;
      return invalid_input(fmt::format(
          "{}: damaged at byte {} (record {}), with later records behind it: restore it from a "
          "backup, or cut it off there and lose them (truncate -s {})",
          name, scanned.good_bytes, sequence, scanned.good_bytes));
    }
    scanned.payloads.push_back(frame->payload);
    scanned.good_bytes += kFrameStart + frame->payload.size();
  }
  return scanned;
}

}  // namespace tutti
