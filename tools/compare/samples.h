// The samples of `tutti batch` as a file: CSV or lines of JSON, one line per sample with all that
// decides it. See docs/formats/samples.md.

#ifndef TUTTI_TOOLS_COMPARE_SAMPLES_H_
#define TUTTI_TOOLS_COMPARE_SAMPLES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"

namespace tutti {

struct Sample {
  // What was asked for: the cell of the sample, and its number there.
  std::string graph{};    // as it was given
  std::string machine{};  // as it was given
  std::string policy{};
  uint64_t seed = 0;
  int run = 0;
  int runs = 1;  // of the cell
  // What came of it.
  std::optional<int64_t> makespan_ns{};  // none: see error
  std::optional<int64_t> planned_ns{};   // none: the plan has no timeline
  int64_t lower_bound_ns = 0;
  int64_t evaluations = 0;
  int64_t bytes_moved = 0;
  std::optional<double> plan_seconds{};  // only if it was asked for: no two runs agree on it
  std::string error{};                   // why there is no plan
  // What the same words may mean another time.
  int64_t ops = 0;
  int64_t devices = 0;
  std::string graph_fingerprint{};
  std::string machine_fingerprint{};
  std::string costs_fingerprint{};
  std::string settings{};

  friend bool operator==(const Sample&, const Sample&) = default;
};

struct SampleFormat {
  enum class Notation { csv, json_lines };
  Notation notation = Notation::csv;
  bool plan_seconds = false;  // whether there is such a column

  // By the end of the name: .csv, or .jsonl. Fails (invalid_input) on others.
  static Result<SampleFormat> of(const std::string& path, bool plan_seconds);
};

// The first line of a file of CSV; nothing for lines of JSON.
std::string sample_header(const SampleFormat& format);

// One line, with its end.
std::string sample_line(const Sample& sample, const SampleFormat& format);

// Lines and where they stand, so that sentences can name them.
struct SampleLine {
  Sample sample;
  int line = 0;
};
struct SamplesRead {
  std::vector<SampleLine> samples{};
  bool cut_off = false;  // the last line has no end: the process that wrote it was killed
};

// Fails (invalid_input), with file and line, on what is no sample of that format; a last line
// without an end is passed over.
Result<SamplesRead> read_samples(Source& source, const SampleFormat& format);

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMPARE_SAMPLES_H_
