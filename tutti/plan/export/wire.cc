#include "tutti/plan/export/wire.h"

namespace tutti {
namespace {

enum WireType : uint64_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

std::optional<uint64_t> take_varint(std::string_view& rest) {
  uint64_t number = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

void add_varint(std::string& message, uint64_t number) {
  for (; number >= 0x80; number >>= 7) message += static_cast<char>((number & 0x7f) | 0x80);
  message += static_cast<char>(number);
}

}  // namespace

std::optional<WireField> take_field(std::string_view& rest) {
  const std::string_view begin = rest;
  const std::optional<uint64_t> tag = take_varint(rest);
  if (!tag || *tag >> 3 == 0) return std::nullopt;
  WireField field{.number = *tag >> 3, .whole = {}, .content = {}};
  std::optional<uint64_t> length;
  switch (*tag & 7) {
    case kVarint:
      length = take_varint(rest) ? std::optional<uint64_t>(0) : std::nullopt;
      break;
    case kFixed64:
      length = 8;
      break;
    case kFixed32:
      length = 4;
      break;
    case kLength:
      length = take_varint(rest);
      break;
    default:
      break;
  }
  if (!length || *length > rest.size()) return std::nullopt;
  if ((*tag & 7) == kLength) field.content = rest.substr(0, *length);
  rest.remove_prefix(*length);
  field.whole = begin.substr(0, begin.size() - rest.size());
  return field;
}

void add_field(std::string& message, uint32_t number, std::string_view content) {
  add_varint(message, uint64_t{number} << 3 | kLength);
  add_varint(message, content.size());
  message += content;
}

}  // namespace tutti
