#include "tools/compare/sample_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "tutti/base/file/output.h"

namespace tutti {
namespace {

using CellKey = std::tuple<std::string, std::string, std::string, uint64_t>;

CellKey key_of(const Sample& sample) {
  return {sample.graph, sample.machine, sample.policy, sample.seed};
}

// Those of whole cells, in the order of the file.
Result<std::vector<Sample>> whole_cells(const std::string& path,
                                        const std::vector<SampleLine>& lines,
                                        const SampleFile::Accept& accept) {
  std::map<CellKey, std::set<int>> cells;
  for (const SampleLine& line : lines) {
    if (const auto good = accept(line.sample); !good) {
      return error_at(path, line.line, good.error().message);
    }
    if (!cells[key_of(line.sample)].insert(line.sample.run).second) {
      return error_at(path, line.line, "this sample stands twice in the file; remove one");
    }
  }
  std::vector<Sample> whole;
  for (const SampleLine& line : lines) {
    const auto count = static_cast<int>(cells[key_of(line.sample)].size());
    if (count == line.sample.runs) whole.push_back(line.sample);
  }
  return whole;
}

// Fails if not all of it could be written.
bool write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    done += static_cast<size_t>(wrote);
  }
  return true;
}

}  // namespace

SampleFile::SampleFile(SampleFile&& other) noexcept
    : path_(std::move(other.path_)),
      format_(other.format_),
      lock_(std::move(other.lock_)),
      samples_(std::move(other.samples_)),
      dropped_(other.dropped_),
      file_(std::exchange(other.file_, -1)) {}

SampleFile::~SampleFile() {
  if (file_ >= 0) ::close(file_);
}

Result<SampleFile> SampleFile::open(const std::string& path, const SampleFormat& format,
                                    const Accept& accept) {
  if (const auto good = probe_output(path); !good) return good.error();
  Result<FileLock> lock = FileLock::take(path);
  if (!lock) return lock.error();
  SampleFile file(path, format, std::move(*lock));
  std::error_code none;
  bool as_read = false;
  if (std::filesystem::exists(path, none)) {
    Result<Source> source = Source::open(path);
    if (!source) return source.error();
    const Result<SamplesRead> read = read_samples(*source, format);
    if (!read) return read.error();
    Result<std::vector<Sample>> whole = whole_cells(path, read->samples, accept);
    if (!whole) return whole.error();
    file.samples_ = std::move(*whole);
    file.dropped_ =
        static_cast<int>(read->samples.size() - file.samples_.size()) + (read->cut_off ? 1 : 0);
    as_read = file.dropped_ == 0 && !read->samples.empty();
  }
  if (!as_read) {
    if (const auto written = write_file(path, file.text()); !written) return written.error();
  }
  file.file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file.file_ < 0) {
    return invalid_input(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  return file;
}

Result<void> SampleFile::append(const std::vector<Sample>& samples) {
  std::string lines;
  for (const Sample& sample : samples) lines += sample_line(sample, format_);
  if (!write_all(file_, lines)) {
    return failed(fmt::format("{}: writing failed: {}; the samples before are kept", path_,
                              std::strerror(errno)));
  }
  samples_.insert(samples_.end(), samples.begin(), samples.end());
  return {};
}

Result<void> SampleFile::finish(const std::function<size_t(const Sample&)>& place) {
  std::vector<std::pair<size_t, int>> keys;
  for (const Sample& sample : samples_) keys.emplace_back(place(sample), sample.run);
  if (std::is_sorted(keys.begin(), keys.end())) return {};
  std::vector<size_t> order(samples_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  std::vector<Sample> sorted;
  for (const size_t at : order) sorted.push_back(std::move(samples_[at]));
  samples_ = std::move(sorted);
  return write_file(path_, text());
}

std::string SampleFile::text() const {
  std::string text = sample_header(format_);
  for (const Sample& sample : samples_) text += sample_line(sample, format_);
  return text;
}

}  // namespace tutti
