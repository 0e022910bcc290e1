#include "tutti/base/fingerprint.h"

#include <fmt/format.h>

#include <charconv>

namespace tutti {

std::string fingerprint_text(uint64_t fingerprint) {
  return fmt::format("{:016x}", fingerprint);
}

std::optional<uint64_t> parse_fingerprint(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc{} || rest != end || text.size() != 16) return std::nullopt;
  return number;
}

}  // namespace tutti
