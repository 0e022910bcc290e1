// An Output is a file being written. It appears under its name only once it is whole: what was
// there before stays until commit() replaces it in one step. The new file has the mode and, as far
// as that is allowed, the owner of the old one. A symbolic link stays, and what it leads to is
// replaced.

#ifndef TUTTI_BASE_FILE_OUTPUT_H_
#define TUTTI_BASE_FILE_OUTPUT_H_

#include <cstdio>
#include <string>
#include <string_view>

#include "tutti/base/result.h"

namespace tutti {

class Output {
 public:
  // "-" is standard output. Fails if the folder cannot be written.
  static Result<Output> open(const std::string& path);

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();  // without commit(), leaves nothing behind

  void write(std::string_view text);

  // Flushes and moves the file to its name. Fails if any write failed; the old file then stays.
  Result<void> commit();

 private:
  Output() = default;

  std::string path_;
  std::string target_;     // where links lead
  std::string temporary_;  // in the same folder; empty for standard output
  std::FILE* file_ = nullptr;
};

// Fails as open does if nothing could be written there, before long work whose result would be
// lost. Leaves everything as it was; a pipe is not opened, because its reader would see its end.
Result<void> probe_output(const std::string& path);

// Whether both name one file that each would replace. Devices and pipes are none.
bool name_one_file(const std::string& a, const std::string& b);

// Writes a whole file at once.
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace tutti

#endif  // TUTTI_BASE_FILE_OUTPUT_H_
