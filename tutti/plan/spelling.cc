#include "tutti/plan/spelling.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace tutti {
namespace {

std::optional<uint64_t> parse(const std::string& text, int base) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number, base);
  if (code != std::errc{} || rest != end) return std::nullopt;
  return number;
}

}  // namespace

std::string seed_text(uint64_t seed) {
  return fmt::format("{}", seed);
}

uint64_t read_seed(Fields& fields, std::string_view key) {
  const std::optional<uint64_t> seed = parse(fields.text(key), 10);
  if (!seed) {
    fields.fail(
        fmt::format("\"{}\" must be a text of decimal digits, at most {}", key, UINT64_MAX));
  }
  return seed.value_or(0);
}

uint64_t read_fingerprint(Fields& fields, std::string_view key) {
  const std::string text = fields.text(key);
  const std::optional<uint64_t> fingerprint = parse(text, 16);
  if (!fingerprint || text.size() != 16) {
    fields.fail(fmt::format("\"{}\" must be a text of sixteen hexadecimal digits", key));
    return 0;
  }
  return *fingerprint;
}

}  // namespace tutti
