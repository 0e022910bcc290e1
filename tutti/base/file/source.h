// A Source is a named stream of bytes, read once from front to back, with a look at its beginning:
// a file, standard input, or a text in memory. Readers take a Source, so that every format can be
// recognised by content and read from a pipe.

#ifndef TUTTI_BASE_FILE_SOURCE_H_
#define TUTTI_BASE_FILE_SOURCE_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "tutti/base/result.h"

namespace tutti {

class Source {
 public:
  // Fails if the file cannot be opened or is a folder. "-" is standard input.
  static Result<Source> open(const std::string& path);
  static Source from_text(std::string name, std::string text);

  const std::string& name() const { return name_; }

  // The first bytes, up to 64 KiB. Requires that nothing has been read yet.
  std::string_view peek();

  // Passes over a UTF-8 byte order mark, which editors put in front of texts. Requires that nothing
  // has been read yet.
  void skip_byte_order_mark();

  // The next byte, or -1 at the end.
  int get() {
    if (position_ == buffer_.size() && !refill()) return -1;
    const unsigned char byte = static_cast<unsigned char>(buffer_[position_++]);
    if (byte == '\n') ++line_;
    return byte;
  }

  // The line of the next byte, counted from 1.
  int line() const { return line_; }

  // Everything that is left. Fails beyond `limit` bytes or when the disk fails.
  Result<std::string> read_all(int64_t limit = int64_t{1} << 32);

  // True if a read failed before the end was reached.
  bool broken() const { return broken_; }

 private:
  struct Closer {
    void operator()(std::FILE* file) const;
  };

  bool refill();

  std::string name_;
  std::unique_ptr<std::FILE, Closer> file_;
  std::string buffer_;
  size_t position_ = 0;
  int line_ = 1;
  bool broken_ = false;
};

// An error about one line of an input: "file:line: sentence".
Error error_at(const std::string& file, int line, const std::string& sentence);

}  // namespace tutti

#endif  // TUTTI_BASE_FILE_SOURCE_H_
