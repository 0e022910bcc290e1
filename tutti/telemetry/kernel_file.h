// A small text file that the kernel generates on each read, such as /proc/stat. It is read often
// and cheaply: no streams, no copies of lines.

#ifndef TUTTI_TELEMETRY_KERNEL_FILE_H_
#define TUTTI_TELEMETRY_KERNEL_FILE_H_

#include <optional>
#include <string>
#include <string_view>

namespace tutti {

class KernelFile {
 public:
  // More than that is not read.
  static constexpr size_t kMostBytes = size_t{1} << 20;

  explicit KernelFile(std::string path) : path_(std::move(path)) {}

  // Reads the file again; the text is empty if there is none.
  void read();
  // As it was read last.
  std::string_view text() const { return text_; }

  // The number of the line "name number" or "name: number".
  std::optional<double> value_of(std::string_view name) const;
  // The number that it begins with.
  std::optional<double> number() const;

 private:
  std::string path_;
  std::string text_;
};

// Takes the first line off the text.
std::string_view next_line(std::string_view& text);
// Takes the first word, between white space, off the line; empty: there is none.
std::string_view next_word(std::string_view& line);
// The same if it is a number.
std::optional<double> next_number(std::string_view& line);

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_KERNEL_FILE_H_
