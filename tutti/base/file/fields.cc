#include "tutti/base/file/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "tutti/base/fingerprint.h"

namespace tutti {

using Kind = Document::Kind;

Fields::Fields(const Document& document, std::string file, std::string what)
    : document_(document), file_(std::move(file)), what_(std::move(what)) {
  if (document.kind != Kind::object) {
    fail(fmt::format("{} must be a table of keys, not {}", what_, to_text(document.kind)));
  }
}

void Fields::fail_at(const Document& part, const std::string& sentence) {
  if (!error_) error_ = error_at(file_, part.line, sentence);
}

void Fields::fail(const std::string& sentence) {
  fail_at(document_, sentence);
}

const Document* Fields::ask(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  const Document* found = document_.find(key);
  return found != nullptr && found->kind == Kind::null ? nullptr : found;
}

const Document* Fields::require(std::string_view key, bool has_fallback) {
  const Document* found = ask(key);
  if (found == nullptr && !has_fallback) fail(fmt::format("{} needs the key \"{}\"", what_, key));
  return found;
}

std::string Fields::text(std::string_view key) {
  const Document* found = require(key, /*has_fallback=*/false);
  if (found == nullptr) return {};
  if (found->kind != Kind::text || found->text.empty()) {
    fail_at(*found, fmt::format("\"{}\" of {} must be a text that is not empty", key, what_));
  }
  return found->text;
}

std::string Fields::text(std::string_view key, const std::string& fallback) {
  const Document* found = ask(key);
  if (found == nullptr) return fallback;
  if (found->kind != Kind::text) {
    fail_at(*found,
            fmt::format("\"{}\" of {} must be a text, not {}", key, what_, to_text(found->kind)));
  }
  return found->text;
}

int Fields::choice(std::string_view key, const std::vector<std::string>& choices) {
  const Document* found = ask(key);
  if (found == nullptr) return 0;
  const auto match = std::find(choices.begin(), choices.end(), found->text);
  if (found->kind == Kind::text && match != choices.end()) {
    return static_cast<int>(match - choices.begin());
  }
  fail_at(*found,
          fmt::format("\"{}\" of {} must be one of: {}", key, what_, fmt::join(choices, ", ")));
  return 0;
}

std::optional<int64_t> Fields::as_integer(const Document& part, std::string_view name,
                                          const Whole& rule) {
  int64_t value = part.integer;
  const bool whole_number = part.kind == Kind::number && std::abs(part.number) < 9.2e18 &&
                            std::floor(part.number) == part.number;
  if (whole_number) value = static_cast<int64_t>(part.number);
  if ((part.kind != Kind::integer && !whole_number) || value < rule.least || value > rule.most) {
    std::string range = rule.most == std::numeric_limits<int64_t>::max()
                            ? fmt::format("of at least {}", rule.least)
                            : fmt::format("from {} to {}", rule.least, rule.most);
    fail_at(part, fmt::format("\"{}\" of {} must be a whole number {}", name, what_, range));
    return std::nullopt;
  }
  return value;
}

std::optional<double> Fields::as_number(const Document& part, std::string_view name,
                                        const Real& rule) {
  const bool is_number = part.kind == Kind::number || part.kind == Kind::integer;
  if (!is_number || !std::isfinite(part.number) || part.number < rule.least ||
      part.number > rule.most) {
    std::string range = rule.most == std::numeric_limits<double>::max()
                            ? fmt::format("of at least {}", rule.least)
                            : fmt::format("from {} to {}", rule.least, rule.most);
    fail_at(part, fmt::format("\"{}\" of {} must be a finite number {}", name, what_, range));
    return std::nullopt;
  }
  return part.number;
}

int64_t Fields::integer(std::string_view key, const Whole& rule) {
  const Document* found = require(key, rule.fallback.has_value());
  if (found == nullptr) return rule.fallback.value_or(rule.least);
  return as_integer(*found, key, rule).value_or(rule.least);
}

double Fields::number(std::string_view key, const Real& rule) {
  const Document* found = require(key, rule.fallback.has_value());
  if (found == nullptr) return rule.fallback.value_or(rule.least);
  return as_number(*found, key, rule).value_or(rule.least);
}

bool Fields::boolean(std::string_view key, bool fallback) {
  const Document* found = ask(key);
  if (found == nullptr) return fallback;
  if (found->kind != Kind::boolean) {
    fail_at(*found, fmt::format("\"{}\" of {} must be true or false", key, what_));
  }
  return found->boolean;
}

std::vector<std::string> Fields::texts(std::string_view key) {
  std::vector<std::string> texts;
  for (const Document& item : items(key)) {
    if (item.kind != Kind::text) {
      fail_at(item, fmt::format("\"{}\" of {} must be a list of texts", key, what_));
    }
    texts.push_back(item.text);
  }
  return texts;
}

uint64_t Fields::seed(std::string_view key) {
  const std::string digits = text(key);
  const char* end = digits.data() + digits.size();
  uint64_t number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  if (error == std::errc{} && rest == end) return number;
  fail(fmt::format("\"{}\" must be a text of decimal digits, at most {}", key, UINT64_MAX));
  return 0;
}

uint64_t Fields::fingerprint(std::string_view key) {
  const std::optional<uint64_t> number = parse_fingerprint(text(key));
  if (!number) fail(fmt::format("\"{}\" must be a text of sixteen hexadecimal digits", key));
  return number.value_or(0);
}

std::vector<uint64_t> Fields::fingerprints(std::string_view key) {
  std::vector<uint64_t> numbers;
  for (const std::string& part : texts(key)) {
    const std::optional<uint64_t> number = parse_fingerprint(part);
    if (!number) fail(fmt::format("\"{}\" must be texts of 16 hexadecimal digits", key));
    numbers.push_back(number.value_or(0));
  }
  return numbers;
}

const std::vector<Document>& Fields::items(std::string_view key) {
  static const std::vector<Document> kNone;
  const Document* found = ask(key);
  if (found == nullptr) return kNone;
  if (found->kind != Kind::array) {
    fail_at(*found,
            fmt::format("\"{}\" of {} must be a list, not {}", key, what_, to_text(found->kind)));
    return kNone;
  }
  return found->items;
}

const Document* Fields::entry(std::string_view key) {
  return ask(key);
}

void Fields::schema_version(int64_t first, int64_t last) {
  const Document* found = require("schema_version", /*has_fallback=*/false);
  if (found == nullptr) return;
  if (found->kind == Kind::integer && found->integer >= first && found->integer <= last) return;
  const std::string read = first == last ? fmt::format("schema_version {}", first)
                                         : fmt::format("schema_version {} to {}", first, last);
  fail_at(*found,
          fmt::format("this build of tutti reads {} of {}; convert the file or use another build",
                      read, what_));
}

Result<void> Fields::done() {
  for (size_t i = 0; i < document_.keys.size() && !error_; ++i) {
    if (std::find(asked_.begin(), asked_.end(), document_.keys[i]) != asked_.end()) continue;
    fail_at(document_.items[i], fmt::format("{} has no key \"{}\"; known are: {}", what_,
                                            document_.keys[i], fmt::join(asked_, ", ")));
  }
  return done_with_foreign_keys();
}

Result<void> Fields::done_with_foreign_keys() {
  if (error_) return *error_;
  return {};
}

}  // namespace tutti
