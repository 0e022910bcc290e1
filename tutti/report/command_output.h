// What any command of tutti printed with --json, or logged as lines of JSON, as the page shows it:
// single figures, tables, and a chart where rows can be compared. Files that have a view of their
// own (plans, traces, comparisons, validations, training logs) are not read here.
//
// Nothing is known about single commands but their titles and which of their figures is drawn, so
// that a key that a command adds appears without a change here.

#ifndef TUTTI_REPORT_COMMAND_OUTPUT_H_
#define TUTTI_REPORT_COMMAND_OUTPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/source.h"
#include "tutti/base/result.h"

namespace tutti {

using OutputCell = std::variant<std::monostate, bool, double, std::string>;  // first: null

struct OutputFact {
  std::string key;  // "work_conserving.makespan_ns": of an object within the object
  OutputCell value{};
};

struct OutputTable {
  std::string title;  // the key of the list
  std::vector<std::string> columns{};
  std::vector<std::vector<OutputCell>> rows{};  // one cell for each column
  int64_t left_out = 0;                         // rows beyond kMostOutputRows
};

struct OutputChart {
  enum class Kind { bars, spans };
  Kind kind = Kind::bars;
  int table = 0;
  int label = 0;      // columns of that table
  int value = 0;      // of a bar its length, of a span its start
  int more = -1;      // of a bar half of its interval, or -1; of a span how long it is
  bool least = true;  // the shortest bar is the best
};

struct CommandOutput {
  std::string name;   // where it was read from
  std::string title;  // what kind of output it is
  std::vector<OutputFact> facts{};
  std::vector<OutputTable> tables{};
  std::optional<OutputChart> chart{};
};

inline constexpr size_t kMostOutputRows = 2000;
inline constexpr size_t kLongestOutputLine = size_t{1} << 20;

// True if a text that begins like this may be one: a JSON object whose first key is
// "schema_version", one with a "format" of ours, a server's answer about jobs, or lines of JSON.
bool looks_like_command_output(std::string_view start);

// Fails (invalid_input) with file and line if it is not JSON. A last line that was cut in the
// middle is passed over.
Result<CommandOutput> read_command_output(Source& source);

// For the page's data.
void write_command_output(const CommandOutput& output, JsonWriter& json);

}  // namespace tutti

#endif  // TUTTI_REPORT_COMMAND_OUTPUT_H_
