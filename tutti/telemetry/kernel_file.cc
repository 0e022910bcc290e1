#include "tutti/telemetry/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace tutti {

void KernelFile::read() {
  constexpr size_t kPiece = 4096;
  const size_t before = text_.size();
  text_.clear();
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  size_t filled = 0;
  text_.resize(std::clamp(before + 1, kPiece, kMostBytes));  // most often as long as last time
  for (;;) {
    const ssize_t more = ::read(file, text_.data() + filled, text_.size() - filled);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    filled += static_cast<size_t>(more);
    if (filled >= kMostBytes) break;
    if (filled == text_.size()) text_.resize(std::min(2 * text_.size(), kMostBytes));
  }
  ::close(file);
  text_.resize(filled);
}

std::optional<double> KernelFile::value_of(std::string_view name) const {
  for (std::string_view rest = text_; !rest.empty();) {
    std::string_view line = next_line(rest);
    if (!line.starts_with(name)) continue;
    std::string_view key = next_word(line);
    if (key.ends_with(':')) key.remove_suffix(1);
    if (key == name) return next_number(line);
  }
  return std::nullopt;
}

std::optional<double> KernelFile::number() const {
  std::string_view text = text_;
  return next_number(text);
}

std::string_view next_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kSpace = " \t";
  line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
  const size_t end = std::min(line.find_first_of(" \t\n"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::optional<double> next_number(std::string_view& line) {
  const std::string_view word = next_word(line);
  double number = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (code != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace tutti
