#include "tutti/base/result.h"

#include <fmt/format.h>

namespace tutti {
namespace {

constexpr size_t kLongest = 2000;

// The length of the character at the front, or 0 if that is a control character or not UTF-8.
size_t showable(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const bool second_controls = first == 0xc2 && text.size() > 1 && (text[1] & 0x60) == 0;
  return is_utf8(text.substr(0, length)) && !second_controls ? length : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const auto byte = static_cast<unsigned char>(text[i++]);
    if (byte < 0x80) continue;
    const int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
    if (byte < 0xc2 || byte > 0xf4 || i + static_cast<size_t>(more) > text.size()) return false;
    uint32_t point = byte & (0x3f >> more);
    for (int k = 0; k < more; ++k) {
      const auto next = static_cast<unsigned char>(text[i++]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
    if (point < kSmallest[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
      return false;
    }
  }
  return true;
}

std::string one_line(std::string text) {
  if (text.size() > kLongest) text.replace(kLongest / 2, text.size() - kLongest, " ... ");
  std::string line;
  for (std::string_view rest = text; !rest.empty();) {
    if (const size_t length = showable(rest); length > 0) {
      line += rest.substr(0, length);
      rest.remove_prefix(length);
    } else {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(rest[0]));
      rest.remove_prefix(1);
    }
  }
  return line;
}

}  // namespace tutti
