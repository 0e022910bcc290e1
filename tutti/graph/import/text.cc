#include "tutti/graph/import/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "tutti/base/file/document.h"

namespace tutti {
namespace {

constexpr size_t kLongestLine = size_t{1} << 30;

}  // namespace

Result<bool> Lines::next() {
  text_.clear();
  number_ = source_.line();
  int byte = source_.get();
  if (byte < 0) {
    if (source_.broken()) return failed(source_.name() + ": reading failed");
    return false;
  }
  for (; byte >= 0 && byte != '\n'; byte = source_.get()) {
    text_ += static_cast<char>(byte);
    if (text_.size() > kLongestLine) return error("the line is longer than 1 GiB; split it");
  }
  if (!text_.empty() && text_.back() == '\r') text_.pop_back();
  if (!is_utf8(text_)) return error("the line is not UTF-8 text; convert the file");
  return true;
}

Error Lines::error(const std::string& sentence) const {
  return error_at(source_.name(), number_, sentence);
}

std::vector<std::string_view> split(std::string_view text, const char* separators) {
  std::vector<std::string_view> words;
  size_t begin = text.find_first_not_of(separators);
  while (begin != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(separators, end);
  }
  return words;
}

std::string shown(std::string_view word) {
  constexpr size_t kLongest = 40;
  size_t end = std::min(word.size(), kLongest);
  if (end < word.size()) {  // not inside a UTF-8 sequence
    while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xc0) == 0x80) --end;
  }
  std::string text(word.substr(0, end));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (!is_utf8(text)) {  // a part of a sequence, or another encoding
    for (char& c : text) {
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
    }
  }
  if (end < word.size()) text += "...";
  return text;
}

Result<int64_t> read_whole(std::string_view word, const std::string& what, int64_t most) {
  int64_t number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc() || end != word.data() + word.size() || number < 0 || number > most) {
    return invalid_input(
        fmt::format("{} must be a whole number from 0 to {}, not '{}'", what, most, shown(word)));
  }
  return number;
}

Result<double> read_real(std::string_view word, const std::string& what, double most) {
  double number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc() || end != word.data() + word.size() || !std::isfinite(number) ||
      number < 0 || number > most) {
    return invalid_input(fmt::format("{} must be a finite number from 0 to {:g}, not '{}'", what,
                                     most, shown(word)));
  }
  return number;
}

Result<Duration> read_time(std::string_view word, const std::string& what) {
  if (const Result<int64_t> exact = read_whole(word, what, kLongestTimeNs)) {
    return Duration(*exact);
  }
  const Result<double> real = read_real(word, what, static_cast<double>(kLongestTimeNs));
  if (!real) return real.error();
  return nanoseconds_of(*real);
}

bool looks_like_json(std::string_view start, char bracket, std::string_view key) {
  const size_t first = start.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && start[first] == bracket &&
         start.find(fmt::format("\"{}\"", key)) != std::string_view::npos;
}

Result<Imported> imported_from(Result<Graph> graph, const Source& source) {
  if (!graph) return invalid_input(source.name() + ": " + graph.error().message);
  return Imported{.graph = std::move(*graph)};
}

std::string graph_name_of(const Source& source) {
  std::string name = std::filesystem::path(source.name()).stem().string();
  return name.empty() ? "graph" : name;
}

}  // namespace tutti
