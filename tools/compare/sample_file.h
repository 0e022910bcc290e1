// A file of samples that grows while an experiment runs, survives being killed, and can be gone on
// with: samples of one cell are appended by one write, in the order in which cells end. Once all
// cells are there the file is put in order, so that its bytes do not depend on threads or on how
// often the experiment was cut short.

#ifndef TUTTI_TOOLS_COMPARE_SAMPLE_FILE_H_
#define TUTTI_TOOLS_COMPARE_SAMPLE_FILE_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/compare/samples.h"
#include "tutti/base/file/folder_lock.h"

namespace tutti {

class SampleFile {
 public:
  // Makes the file, or reads what is there and asks `accept` about each sample. A cell without all
  // of its samples, and a last line that was cut off, are dropped. Fails (invalid_input) if another
  // process has the file, if it cannot be written, on what is no sample, on a sample that stands
  // twice, and with file and line on what `accept` refuses.
  using Accept = std::function<Result<void>(const Sample&)>;
  static Result<SampleFile> open(const std::string& path, const SampleFormat& format,
                                 const Accept& accept);

  SampleFile(SampleFile&& other) noexcept;
  SampleFile& operator=(SampleFile&&) = delete;
  ~SampleFile();

  // Those that were there, and those appended since.
  const std::vector<Sample>& samples() const { return samples_; }
  // Samples that were there and were not whole.
  int dropped() const { return dropped_; }

  // Fails if the disk is full.
  Result<void> append(const std::vector<Sample>& samples);

  // Puts the samples in order: by `place`, then by run. Samples in one place keep their order.
  Result<void> finish(const std::function<size_t(const Sample&)>& place);

 private:
  SampleFile(std::string path, const SampleFormat& format, FileLock lock)
      : path_(std::move(path)), format_(format), lock_(std::move(lock)) {}

  std::string text() const;

  std::string path_;
  SampleFormat format_;
  FileLock lock_;
  std::vector<Sample> samples_{};
  int dropped_ = 0;
  int file_ = -1;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMPARE_SAMPLE_FILE_H_
