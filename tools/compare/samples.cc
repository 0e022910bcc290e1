#include "tools/compare/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "tutti/base/file/fields.h"
#include "tutti/base/file/json_lines.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/graph/import/text.h"

namespace tutti {
namespace {

constexpr const char* kForeign = "this is no file of samples; name another";
constexpr size_t kLongestLine = size_t{1} << 20;

// A cell of CSV; nothing and an empty text are written alike.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string cell = "\"";
  for (const char letter : text)
    cell += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return cell + "\"";
}

template <class Number>
Result<Number> number_in(const std::string& text, const std::string& column) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || rest != end) {
    return invalid_input(
        fmt::format("\"{}\" is no {}; remove the row, and it is made again", shown(text), column));
  }
  return number;
}

// How a column is written to, and read from, a sample.
struct Column {
  const char* name;
  std::function<std::string(const Sample&)> text;  // empty: there is no value
  std::function<Result<void>(Sample&, const std::string&)> read;
  bool number;
};

Column text_column(const char* name, std::string Sample::*member) {
  return {name, [member](const Sample& sample) { return sample.*member; },
          [member](Sample& sample, const std::string& text) -> Result<void> {
            sample.*member = text;
            return {};
          },
          false};
}

template <class Number>
Column number_column(const char* name, Number Sample::*member) {
  return {name, [member](const Sample& sample) { return fmt::format("{}", sample.*member); },
          [member, name](Sample& sample, const std::string& text) -> Result<void> {
            const Result<Number> number = number_in<Number>(text, name);
            if (!number) return number.error();
            sample.*member = *number;
            return {};
          },
          true};
}

template <class Number>
Column number_column(const char* name, std::optional<Number> Sample::*member) {
  return {name,
          [member](const Sample& sample) {
            return sample.*member ? fmt::format("{}", *(sample.*member)) : std::string();
          },
          [member, name](Sample& sample, const std::string& text) -> Result<void> {
            if (text.empty()) return {};
            const Result<Number> number = number_in<Number>(text, name);
            if (!number) return number.error();
            sample.*member = *number;
            return {};
          },
          true};
}

std::vector<Column> columns_of(const SampleFormat& format) {
  std::vector<Column> columns = {
      text_column("graph", &Sample::graph),
      text_column("machine", &Sample::machine),
      text_column("policy", &Sample::policy),
      number_column("seed", &Sample::seed),
      number_column("run", &Sample::run),
      number_column("runs", &Sample::runs),
      number_column("makespan_ns", &Sample::makespan_ns),
      number_column("planned_makespan_ns", &Sample::planned_ns),
      number_column("lower_bound_ns", &Sample::lower_bound_ns),
      number_column("evaluations", &Sample::evaluations),
      number_column("bytes_moved", &Sample::bytes_moved),
  };
  if (format.plan_seconds) {
    columns.push_back(number_column("plan_seconds", &Sample::plan_seconds));
  }
  for (const Column& column :
       {text_column("error", &Sample::error), number_column("ops", &Sample::ops),
        number_column("devices", &Sample::devices),
        text_column("graph_fingerprint", &Sample::graph_fingerprint),
        text_column("machine_fingerprint", &Sample::machine_fingerprint),
        text_column("costs_fingerprint", &Sample::costs_fingerprint),
        text_column("settings", &Sample::settings)}) {
    columns.push_back(column);
  }
  return columns;
}

// The cells of one line of CSV. Fails on a quote that does not end, or ends within a cell.
Result<std::vector<std::string>> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool inside = false;
  bool was_quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char letter = line[i];
    if (inside) {
      if (letter != '"') {
        cells.back() += letter;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        cells.back() += line[++i];
      } else {
        inside = false;
      }
    } else if (letter == ',') {
      cells.emplace_back();
      was_quoted = false;
    } else if (letter == '"' && cells.back().empty() && !was_quoted) {
      inside = was_quoted = true;
    } else if (was_quoted || letter == '"') {
      return invalid_input("a quote stands within a cell");
    } else {
      cells.back() += letter;
    }
  }
  if (inside) return invalid_input("a quote does not end");
  return cells;
}

Result<Sample> from_csv(const std::string& line, const std::vector<Column>& columns) {
  const Result<std::vector<std::string>> cells = cells_of(line);
  if (!cells) return cells.error();
  if (cells->size() != columns.size()) {
    return invalid_input(
        fmt::format("a sample has {} cells, not {}; remove the row, and it is made again",
                    columns.size(), cells->size()));
  }
  Sample sample;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (const auto good = columns[i].read(sample, (*cells)[i]); !good) return good.error();
  }
  return sample;
}

// What no experiment makes, so that the row was changed by hand.
Result<void> check_possible(const Sample& sample) {
  std::string wrong;
  const int64_t least = sample.lower_bound_ns > 0 ? 1 : 0;  // ops may take no time
  if (sample.makespan_ns && *sample.makespan_ns < least) {
    wrong = fmt::format("makespan_ns is {}, and no run is that short", *sample.makespan_ns);
  } else if (sample.runs < 1 || sample.run < 0 || sample.run >= sample.runs) {
    wrong = fmt::format("run {} is not one of {} runs, counted from 0", sample.run, sample.runs);
  }
  if (wrong.empty()) return {};
  return invalid_input(wrong + "; remove the row, and it is made again");
}

// The text of a value as CSV has it.
std::string text_of_value(const Document& item) {
  switch (item.kind) {
    case Document::Kind::text:
      return item.text;
    case Document::Kind::integer:
      return fmt::format("{}", item.integer);
    case Document::Kind::number:
      return fmt::format("{}", item.number);
    default:
      return "";
  }
}

Result<Sample> from_json(const Document& document, const std::vector<Column>& columns) {
  if (document.kind != Document::Kind::object || document.keys.size() != columns.size()) {
    return invalid_input(fmt::format("a sample is an object of {} keys", columns.size()));
  }
  Sample sample;
  for (const Column& column : columns) {
    const Document* item = document.find(column.name);
    if (item == nullptr)
      return invalid_input(fmt::format("the key \"{}\" is missing", column.name));
    if (const auto good = column.read(sample, text_of_value(*item)); !good) return good.error();
  }
  return sample;
}

}  // namespace

Result<SampleFormat> SampleFormat::of(const std::string& path, bool plan_seconds) {
  SampleFormat format{.notation = Notation::csv, .plan_seconds = plan_seconds};
  if (path.ends_with(".csv")) return format;
  format.notation = Notation::json_lines;
  if (path.ends_with(".jsonl")) return format;
  return invalid_input(
      path + ": the name of a file of samples ends in .csv, or in .jsonl for lines of JSON");
}

std::string sample_header(const SampleFormat& format) {
  if (format.notation == SampleFormat::Notation::json_lines) return "";
  std::string line;
  for (const Column& column : columns_of(format)) {
    line += (line.empty() ? "" : ",") + std::string(column.name);
  }
  return line + "\n";
}

std::string sample_line(const Sample& sample, const SampleFormat& format) {
  std::string line;
  const std::vector<Column> columns = columns_of(format);
  if (format.notation == SampleFormat::Notation::csv) {
    for (const Column& column : columns) {
      line += (&column == columns.data() ? "" : ",") + quoted(column.text(sample));
    }
    return line + "\n";
  }
  JsonWriter json(/*inline_depth=*/0);
  json.open_object();
  for (const Column& column : columns) {
    const std::string text = column.text(sample);
    json.key(column.name);
    if (!column.number || std::string_view(column.name) == "seed") {
      json.value(text);  // a seed may be larger than JSON's numbers reach
    } else if (text.empty()) {
      json.null();
    } else {
      json.raw(text);
    }
  }
  json.close_object();
  line = json.text();
  while (line.ends_with('\n')) line.pop_back();
  return line + "\n";
}

Result<SamplesRead> read_samples(Source& source, const SampleFormat& format) {
  const std::vector<Column> columns = columns_of(format);
  const bool csv = format.notation == SampleFormat::Notation::csv;
  SamplesRead read;
  for (bool header = csv;; header = false) {
    const Result<JsonLine> line = next_json_line(source, kLongestLine, "name another file");
    if (!line) return line.error();
    const auto refused = [&](const Error& error) {
      return error_at(source.name(), line->number, error.message);
    };
    if (!line->whole) {
      read.cut_off = !line->text.empty();
      // What is dropped is a sample that was cut off, and no line of another file.
      const std::string begin = header ? sample_header(format) : csv ? "" : "{\"graph\":\"";
      const size_t same = std::min(begin.size(), line->text.size());
      if (line->text.compare(0, same, begin, 0, same) == 0) return read;
      return refused(invalid_input(kForeign));
    }
    if (header) {
      if (line->text + "\n" == sample_header(format)) continue;
      SampleFormat other = format;
      other.plan_seconds = !format.plan_seconds;
      return refused(invalid_input(
          line->text + "\n" != sample_header(other) ? kForeign
          : format.plan_seconds
              ? "the file was made without --plan-time; leave it out, or name another file"
              : "the file was made with --plan-time; give it again, or name another file"));
    }
    Result<Sample> sample = invalid_input("");
    if (csv) {
      sample = from_csv(line->text, columns);
    } else {
      const Result<Document> document = read_json_line(*line, source.name());
      if (!document) return document.error();
      sample = from_json(*document, columns);
    }
    if (!sample) return refused(sample.error());
    if (const auto good = check_possible(*sample); !good) return refused(good.error());
    read.samples.push_back({std::move(*sample), line->number});
  }
}

}  // namespace tutti
