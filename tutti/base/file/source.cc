#include "tutti/base/file/source.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace tutti {
namespace {

constexpr size_t kChunk = size_t{1} << 16;

}  // namespace

void Source::Closer::operator()(std::FILE* file) const {
  if (file != nullptr && file != stdin) std::fclose(file);
}

Result<Source> Source::open(const std::string& path) {
  Source source;
  if (path == "-") {
    source.name_ = "standard input";
    source.file_.reset(stdin);
    return source;
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return invalid_input(path + ": is a folder; name a file inside it");
  }
  source.name_ = path;
  source.file_.reset(std::fopen(path.c_str(), "rb"));
  if (!source.file_) {
    return invalid_input(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  }
  return source;
}

Source Source::from_text(std::string name, std::string text) {
  Source source;
  source.name_ = std::move(name);
  source.buffer_ = std::move(text);
  return source;
}

std::string_view Source::peek() {
  if (buffer_.empty()) refill();
  return std::string_view(buffer_).substr(0, kChunk);
}

void Source::skip_byte_order_mark() {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (peek().starts_with(kMark)) buffer_.erase(0, kMark.size());
}

bool Source::refill() {
  if (!file_) return false;
  buffer_.resize(kChunk);
  buffer_.resize(std::fread(buffer_.data(), 1, kChunk, file_.get()));
  position_ = 0;
  broken_ = std::ferror(file_.get()) != 0;
  return !buffer_.empty();
}

Result<std::string> Source::read_all(int64_t limit) {
  std::string text = buffer_.substr(position_);
  buffer_.clear();
  position_ = 0;
  while (refill()) {
    text += buffer_;
    if (static_cast<int64_t>(text.size()) > limit) {
      return invalid_input(
          fmt::format("{}: is larger than {} bytes, the most tutti reads of this "
                      "format; convert it in smaller parts",
                      name_, limit));
    }
  }
  buffer_.clear();
  if (broken_) return failed(name_ + ": reading failed: " + std::strerror(errno));
  return text;
}

Error error_at(const std::string& file, int line, const std::string& sentence) {
  return invalid_input(fmt::format("{}:{}: {}", file, line, sentence));
}

}  // namespace tutti
