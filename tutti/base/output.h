// An Output is a file being written. It appears under its name only once it is whole: what was
// there before stays until commit() replaces it in one step.

#ifndef TUTTI_BASE_OUTPUT_H_
#define TUTTI_BASE_OUTPUT_H_

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
  std::string temporary_;  // empty for standard output
  std::FILE* file_ = nullptr;
};

// Writes a whole file at once.
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace tutti

#endif  // TUTTI_BASE_OUTPUT_H_
