#include "tutti/serve/journal/frames.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>

#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

constexpr size_t kIdBytes = 16;
constexpr std::string_view kStart = "tutti-journal ";
constexpr std::array<size_t, 2> kMarkPlaces = {1024, 2048};

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

uint64_t checksum_of(std::string_view text) {
  Fingerprint fingerprint;
  fingerprint.add(text);
  return fingerprint.value();
}

// `id` is empty in version 1.
uint64_t checksum_of(std::string_view id, int64_t sequence, int64_t durable,
                     std::string_view payload) {
  Fingerprint fingerprint;
  if (!id.empty()) fingerprint.add(id);
  fingerprint.add(sequence);
  fingerprint.add(durable);
  fingerprint.add(payload);
  return fingerprint.value();
}

std::string hex_of(std::string_view raw) {
  std::string text;
  for (const char c : raw) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string raw_of(std::string_view hex) {
  std::string raw;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    raw.push_back(static_cast<char>(byte));
  }
  return raw;
}

// How frames look in the journal at hand.
struct Shape {
  int version = kJournalVersion;
  std::string id{};  // its raw bytes; empty: any, and of version 1
  size_t start() const { return version == 1 ? 4 + 8 + 8 + 8 : 4 + 8 + 8 + kIdBytes + 8; }
  size_t first() const { return version == 1 ? kJournalStart1.size() : kJournalHeader; }
};

struct Frame {
  int64_t sequence = 0;
  int64_t durable = 0;
  std::string_view id{};
  std::string_view payload{};
  size_t end = 0;
};

// The frame that begins there with a sequence from `least` to `most`; none if there is no whole
// one.
std::optional<Frame> frame_at(std::string_view bytes, size_t place, const Shape& shape,
                              int64_t least, int64_t most) {
  const size_t start = shape.start();
  if (bytes.size() < place || bytes.size() - place < start) return std::nullopt;
  const uint64_t length = number_at(bytes, place, 4);
  if (length > bytes.size() - place - start) return std::nullopt;
  Frame frame{.sequence = static_cast<int64_t>(number_at(bytes, place + 4, 8)),
              .durable = static_cast<int64_t>(number_at(bytes, place + 12, 8)),
              .payload = bytes.substr(place + start, length),
              .end = place + start + length};
  if (frame.sequence < least || frame.sequence > most) return std::nullopt;
  if (shape.version > 1) frame.id = bytes.substr(place + 20, kIdBytes);
  if (!shape.id.empty() && frame.id != shape.id) return std::nullopt;
  const uint64_t checksum = checksum_of(frame.id, frame.sequence, frame.durable, frame.payload);
  if (checksum != number_at(bytes, place + start - 8, 8)) return std::nullopt;
  return frame;
}

// The first whole frame behind `place` whose sequence is at least that; none if there is none.
std::optional<std::pair<size_t, Frame>> next_frame(std::string_view bytes, size_t place,
                                                   const Shape& shape, int64_t least) {
  const auto most = least + static_cast<int64_t>(bytes.size() / shape.start()) + 1;
  for (size_t at = place; at < bytes.size() && bytes.size() - at >= shape.start(); ++at) {
    if (const auto frame = frame_at(bytes, at, shape, least, most)) return std::pair{at, *frame};
  }
  return std::nullopt;
}

struct Header {
  int version = 0;
  std::string id;
};

// "tutti-journal 3 ID CHECKSUM", or none.
std::optional<Header> header_of(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, std::min<size_t>(bytes.find('\n'), bytes.size()));
  if (line.size() != 16 + 32 + 1 + 16 || !line.starts_with(kStart)) return std::nullopt;
  if (fmt::format("{:016x}", checksum_of(line.substr(0, 48))) != line.substr(49)) {
    return std::nullopt;
  }
  return Header{line[14] - '0', std::string(line.substr(16, 32))};
}

struct FoundMark {
  std::string id;
  Mark mark;
};

// "mark ID SEQUENCE BYTES CHECKSUM", or none.
std::optional<FoundMark> mark_in(std::string_view bytes, int which) {
  const size_t place = mark_place(which);
  constexpr size_t kBefore = 5 + 32 + 1 + 20 + 1 + 20;  // the checksum
  if (bytes.size() < place + kBefore + 1 + 16 + 1) return std::nullopt;
  const std::string_view text = bytes.substr(place, kBefore);
  const std::string_view checksum = bytes.substr(place + kBefore + 1, 16);
  if (!text.starts_with("mark ") || fmt::format("{:016x}", checksum_of(text)) != checksum) {
    return std::nullopt;
  }
  FoundMark found{std::string(text.substr(5, 32)), {}};
  std::from_chars(text.data() + 38, text.data() + 58, found.mark.sequence);
  std::from_chars(text.data() + 59, text.data() + 79, found.mark.bytes);
  return found;
}

void read_marks(std::string_view bytes, Surveyed& surveyed) {
  int64_t sequences[2] = {-1, -1};
  for (const int which : {0, 1}) {
    const auto found = mark_in(bytes, which);
    if (!found) continue;
    if (surveyed.id.empty()) surveyed.id = found->id;
    if (found->id != surveyed.id) continue;
    ++surveyed.marks_good;
    sequences[which] = found->mark.sequence;
    surveyed.promised = std::max(surveyed.promised, found->mark.sequence);
  }
  surveyed.older_mark = sequences[0] <= sequences[1] ? 0 : 1;
}

// What the bytes are, by their header, or by what there is where the header is gone.
Shape recognised(std::string_view bytes, Surveyed& surveyed) {
  if (bytes.starts_with(kJournalStart1)) {
    surveyed.version = 1;
    surveyed.header_good = true;
    return {.version = 1};
  }
  if (const auto header = header_of(bytes)) {
    surveyed.header_good = true;
    surveyed.version = header->version;
    surveyed.id = header->id;
    if (header->version < 2 || header->version > kJournalVersion) {
      return {.version = header->version};
    }
  }
  read_marks(bytes, surveyed);
  Shape shape;
  if (surveyed.id.empty()) {
    if (const auto found = next_frame(bytes, kJournalHeader, shape, 1)) {
      surveyed.id = hex_of(found->second.id);
    }
  }
  if (!surveyed.id.empty()) {
    if (!surveyed.header_good) surveyed.version = kJournalVersion;
    shape.version = surveyed.version;
    shape.id = raw_of(surveyed.id);
    return shape;
  }
  const Shape old{.version = 1};
  if (next_frame(bytes, 0, old, 1)) {
    surveyed.version = 1;
    return old;
  }
  return {.version = 0};
}

// Places where frames are missing, with those that are there.
struct Walked {
  std::vector<Damage> gaps;
  size_t end = 0;  // of the last whole frame, or of the header
};

Walked walk(std::string_view bytes, const Shape& shape, Surveyed& surveyed) {
  Walked walked{{}, shape.first()};
  int64_t sequence = 1;
  constexpr int64_t kAny = int64_t{1} << 62;
  for (size_t place = shape.first(); place < bytes.size();) {
    auto frame = frame_at(bytes, place, shape, sequence, sequence);
    if (!frame) {
      const auto found = next_frame(bytes, place, shape, sequence);
      if (!found) break;
      walked.gaps.push_back({sequence, found->second.sequence - 1, place, found->first});
      place = found->first;
      frame = found->second;
    }
    surveyed.frames.push_back({frame->sequence, place, frame->payload});
    if (frame->durable < kAny) surveyed.promised = std::max(surveyed.promised, frame->durable);
    sequence = frame->sequence + 1;
    place = walked.end = frame->end;
  }
  return walked;
}

}  // namespace

Result<std::string> fresh_journal_id() {
  char raw[kIdBytes];
  if (::getrandom(raw, sizeof raw, 0) != static_cast<ssize_t>(sizeof raw)) {
    return failed("the system gives no random numbers, which a new journal needs");
  }
  return hex_of({raw, sizeof raw});
}

size_t mark_place(int which) {
  return kMarkPlaces[static_cast<size_t>(which)];
}

std::string mark_text(const std::string& id, const Mark& mark) {
  const std::string text = fmt::format("mark {} {:020} {:020}", id, mark.sequence, mark.bytes);
  return fmt::format("{} {:016x}\n", text, checksum_of(text));
}

std::string journal_header(const std::string& id, const Mark& mark) {
  std::string header = fmt::format("{}{} {}", kStart, kJournalVersion, id);
  header += fmt::format(" {:016x}\n", checksum_of(header));
  header.resize(kJournalHeader, '\n');
  for (const size_t place : kMarkPlaces) {
    const std::string text = mark_text(id, mark);
    header.replace(place, text.size(), text);
  }
  return header;
}

void add_frame(std::string& bytes, const std::string& id, int64_t sequence, int64_t durable,
               std::string_view payload) {
  const std::string raw = raw_of(id);
  add_number(bytes, payload.size(), 4);
  add_number(bytes, static_cast<uint64_t>(sequence), 8);
  add_number(bytes, static_cast<uint64_t>(durable), 8);
  bytes.append(raw);
  add_number(bytes, checksum_of(raw, sequence, durable, payload), 8);
  bytes.append(payload);
}

void add_frame_1(std::string& bytes, int64_t sequence, int64_t durable, std::string_view payload) {
  add_number(bytes, payload.size(), 4);
  add_number(bytes, static_cast<uint64_t>(sequence), 8);
  add_number(bytes, static_cast<uint64_t>(durable), 8);
  add_number(bytes, checksum_of({}, sequence, durable, payload), 8);
  bytes.append(payload);
}

Surveyed survey(std::string_view bytes) {
  Surveyed surveyed;
  const Shape shape = recognised(bytes, surveyed);
  if (surveyed.version < 1 || surveyed.version > kJournalVersion) return surveyed;
  Walked walked = walk(bytes, shape, surveyed);
  surveyed.good_bytes = std::min(walked.end, bytes.size());
  const int64_t last = surveyed.frames.empty() ? 0 : surveyed.frames.back().sequence;
  if (surveyed.promised > last) {
    walked.gaps.push_back({last + 1, surveyed.promised, surveyed.good_bytes, bytes.size()});
  }
  for (const Damage& gap : walked.gaps) {
    if (gap.first <= surveyed.promised) {
      surveyed.damages.push_back(gap);
      continue;
    }
    // A batch that never reached the disk completely: what is behind the gap was not acknowledged.
    surveyed.good_bytes = gap.from;
    std::erase_if(surveyed.frames,
                  [&](const Surveyed::Frame& frame) { return frame.place >= gap.from; });
    break;
  }
  return surveyed;
}

Result<void> check_whole(const Surveyed& surveyed, const std::string& name,
                         const std::string& folder) {
  const std::string remedy = fmt::format(
      "restore a backup, or recover what is whole with 'tutti journal repair {}'", folder);
  if (surveyed.version == 0) {
    return invalid_input(fmt::format(
        "{}: is no journal that this tutti writes, or nothing of one is left; restore a backup, "
        "name another folder, or start again with 'tutti journal repair {}', which keeps it",
        name, folder));
  }
  if (surveyed.version > kJournalVersion) {
    return invalid_input(fmt::format(
        "{}: is a journal of version {}, and this tutti reads up to {}; use the one that wrote it",
        name, surveyed.version, kJournalVersion));
  }
  if (!surveyed.header_good) {
    return invalid_input(fmt::format("{}: damaged at byte 0, in its header; {}", name, remedy));
  }
  if (surveyed.version > 1 && surveyed.marks_good == 0) {
    return invalid_input(
        fmt::format("{}: damaged at byte {}: neither mark says how much was promised; {}", name,
                    mark_place(0), remedy));
  }
  if (surveyed.damages.empty()) return {};
  const Damage& first = surveyed.damages.front();
  if (first.last < first.first) {
    return invalid_input(fmt::format("{}: damaged at byte {}: {} bytes there are no record; {}",
                                     name, first.from, first.to - first.from, remedy));
  }
  return invalid_input(fmt::format(
      "{}: damaged at byte {}: of {} records that were promised, number {}{} not whole; {}", name,
      first.from, surveyed.promised, first.first,
      first.last > first.first ? fmt::format(" to {} are", first.last) : " is", remedy));
}

std::optional<std::string> with_a_bit_turned(std::string_view bytes, const Surveyed& surveyed,
                                             const Damage& damage) {
  constexpr size_t kFew = size_t{8} << 10;
  const size_t size = damage.to - damage.from;
  if (damage.last != damage.first || size > kFew) return std::nullopt;
  const Shape shape{.version = surveyed.version, .id = raw_of(surveyed.id)};
  std::string tried(bytes.substr(damage.from, size));
  for (size_t bit = 0; bit < 8 * size; ++bit) {
    char& byte = tried[bit / 8];
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
    const auto frame = frame_at(tried, 0, shape, damage.first, damage.first);
    if (frame) return std::string(frame->payload);
    byte = static_cast<char>(byte ^ (1 << (bit % 8)));
  }
  return std::nullopt;
}

}  // namespace tutti
