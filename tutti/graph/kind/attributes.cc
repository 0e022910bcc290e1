#include "tutti/graph/kind/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

namespace tutti {
namespace {

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The parts between the separators; an empty text has one empty part.
std::vector<std::string_view> parts(std::string_view text, char separator) {
  std::vector<std::string_view> found;
  for (size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    found.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  found.push_back(text);
  return found;
}

std::optional<std::vector<int64_t>> parse_wholes(std::string_view text) {
  std::vector<int64_t> numbers;
  for (const std::string_view part : parts(text, ',')) {
    const auto number = parse<int64_t>(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

Error wrong(std::string_view key, std::string_view text, std::string_view wanted) {
  return invalid_input(fmt::format("attribute '{}' is '{}', not {}", key, text, wanted));
}

}  // namespace

std::optional<std::string_view> Attributes::text(std::string_view key) const {
  for (const auto& [name, text] : pairs_) {
    if (name == key) return text;
  }
  return std::nullopt;
}

Result<int64_t> Attributes::whole(std::string_view key, int64_t fallback) const {
  const auto found = text(key);
  if (!found) return fallback;
  const auto number = parse<int64_t>(*found);
  if (!number) return wrong(key, *found, "a whole number");
  return *number;
}

Result<double> Attributes::number(std::string_view key, double fallback) const {
  const auto found = text(key);
  if (!found) return fallback;
  const auto number = parse<double>(*found);
  if (!number || !std::isfinite(*number)) return wrong(key, *found, "a finite number");
  return *number;
}

Result<std::vector<int64_t>> Attributes::wholes(std::string_view key) const {
  const auto found = text(key);
  if (!found) return std::vector<int64_t>{};
  auto numbers = parse_wholes(*found);
  if (!numbers) return wrong(key, *found, "a list of whole numbers such as 4,8");
  return std::move(*numbers);
}

Result<std::vector<std::vector<int64_t>>> Attributes::rows(std::string_view key) const {
  std::vector<std::vector<int64_t>> rows;
  const auto found = text(key);
  if (!found) return rows;
  for (const std::string_view part : parts(*found, ';')) {
    auto numbers = parse_wholes(part);
    if (!numbers) return wrong(key, *found, "a list of lists such as 0,0;0,4");
    rows.push_back(std::move(*numbers));
  }
  return rows;
}

std::string wholes_text(std::span<const int64_t> numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

}  // namespace tutti
