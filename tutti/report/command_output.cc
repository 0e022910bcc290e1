#include "tutti/report/command_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tutti/base/file/json_lines.h"

namespace tutti {
namespace {

constexpr size_t kFewValues = 8;

bool is_scalar(const Document& item) {
  return item.kind != Document::Kind::array && item.kind != Document::Kind::object;
}

OutputCell cell_of(const Document& item) {
  switch (item.kind) {
    case Document::Kind::boolean:
      return item.boolean;
    case Document::Kind::integer:
    case Document::Kind::number:
      return item.number;
    case Document::Kind::text:
      return item.text;
    default:
      return std::monostate{};
  }
}

std::string text_of(const Document& item) {
  if (item.kind == Document::Kind::text) return item.text;
  if (item.kind == Document::Kind::boolean) return item.boolean ? "yes" : "no";
  if (item.kind == Document::Kind::integer) return fmt::format("{}", item.integer);
  if (item.kind == Document::Kind::number) return fmt::format("{:.4g}", item.number);
  return "none";
}

// A list that becomes no table: its values if they are few, else how many and between what.
std::string text_of_list(const Document& list) {
  const bool scalars = std::all_of(list.items.begin(), list.items.end(), is_scalar);
  if (list.items.empty()) return "none";
  if (!scalars) return fmt::format("{} entries", list.items.size());
  if (list.items.size() <= kFewValues) {
    std::string text;
    for (const Document& item : list.items) text += (text.empty() ? "" : ", ") + text_of(item);
    return text;
  }
  const auto [least, most] =
      std::minmax_element(list.items.begin(), list.items.end(),
                          [](const Document& a, const Document& b) { return a.number < b.number; });
  if (least->kind == Document::Kind::text) return fmt::format("{} entries", list.items.size());
  return fmt::format("{} values from {} to {}", list.items.size(), text_of(*least), text_of(*most));
}

bool is_table(const Document& item) {
  return item.kind == Document::Kind::array && !item.items.empty() &&
         std::all_of(item.items.begin(), item.items.end(),
                     [](const Document& row) { return row.kind == Document::Kind::object; });
}

class OutputReader {
 public:
  explicit OutputReader(CommandOutput& output) : output_(output) {}

  // Single figures become facts, lists of objects tables.
  void read_object(const Document& object, const std::string& prefix) {
    for (size_t i = 0; i < object.items.size(); ++i) {
      const Document& item = object.items[i];
      const std::string key = prefix + object.keys[i];
      if (key == "schema_version") continue;
      if (item.kind == Document::Kind::object) {
        read_object(item, key + ".");
      } else if (is_table(item)) {
        for (const Document& row : item.items) add_row(key, row, "", "");
      } else if (item.kind == Document::Kind::array) {
        output_.facts.push_back({key, text_of_list(item)});
      } else {
        output_.facts.push_back({key, cell_of(item)});
      }
    }
  }

  // `above` is the row that this one stands in, and its column's name.
  void add_row(const std::string& title, const Document& row, const std::string& above_column,
               const std::string& above) {
    const size_t number = table(title);
    if (output_.tables[number].rows.size() == kMostOutputRows) {
      ++output_.tables[number].left_out;
      return;
    }
    output_.tables[number].rows.emplace_back();
    if (!above_column.empty()) put(number, above_column, above);
    add_cells(number, row, "");
    if (!row.items.empty()) add_tables_below(title, row);
  }

  void even_out() {
    for (OutputTable& table : output_.tables) {
      for (auto& row : table.rows) row.resize(table.columns.size());
    }
  }

 private:
  size_t table(const std::string& title) {
    const auto [found, is_new] = tables_.try_emplace(title, output_.tables.size());
    if (is_new) output_.tables.push_back({.title = title});
    return found->second;
  }

  // In the table's last row.
  void put(size_t number, const std::string& column, OutputCell cell) {
    OutputTable& table = output_.tables[number];
    const auto [found, is_new] =
        columns_.try_emplace({number, column}, static_cast<int>(table.columns.size()));
    if (is_new) table.columns.push_back(column);
    auto& row = table.rows.back();
    const auto at = static_cast<size_t>(found->second);
    if (row.size() <= at) row.resize(at + 1);
    row[at] = std::move(cell);
  }

  void add_cells(size_t number, const Document& row, const std::string& prefix) {
    for (size_t i = 0; i < row.items.size(); ++i) {
      const Document& item = row.items[i];
      const std::string column = prefix + row.keys[i];
      if (item.kind == Document::Kind::object) {
        add_cells(number, item, column + ".");
      } else if (item.kind == Document::Kind::array) {
        if (!is_table(item)) put(number, column, text_of_list(item));
      } else {
        put(number, column, cell_of(item));
      }
    }
  }

  void add_tables_below(const std::string& title, const Document& row) {
    for (size_t i = 0; i < row.items.size(); ++i) {
      if (!is_table(row.items[i])) continue;
      const bool named = is_scalar(row.items[0]);
      for (const Document& inner : row.items[i].items) {
        add_row(title + " / " + row.keys[i], inner, named ? row.keys[0] : "",
                named ? text_of(row.items[0]) : "");
      }
    }
  }

  CommandOutput& output_;
  std::map<std::string, size_t> tables_;
  std::map<std::pair<size_t, std::string>, int> columns_;
};

bool has_fact(const CommandOutput& output, std::string_view key) {
  return std::any_of(output.facts.begin(), output.facts.end(),
                     [&](const OutputFact& fact) { return fact.key == key; });
}

int column_of(const OutputTable& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  return found == table.columns.end() ? -1 : static_cast<int>(found - table.columns.begin());
}

const OutputTable* table_of(const CommandOutput& output, std::string_view title) {
  const auto found = std::find_if(output.tables.begin(), output.tables.end(),
                                  [&](const OutputTable& table) { return table.title == title; });
  return found == output.tables.end() ? nullptr : &*found;
}

std::string title_of(const CommandOutput& output) {
  const OutputTable* results = table_of(output, "results");
  if (results != nullptr && column_of(*results, "mean_slowdown") >= 0) return "Jobs that arrive";
  if (table_of(output, "machines") != nullptr && has_fact(output, "change")) return "What if";
  if (has_fact(output, "work_conserving.makespan_ns")) return "Exact schedules";
  if (table_of(output, "alternatives") != nullptr) return "Why an op is where it is";
  if (table_of(output, "moved") != nullptr) return "Two plans";
  if (has_fact(output, "good")) return "The judge";
  if (table_of(output, "tried") != nullptr) return "Planning";
  if (table_of(output, "devices") != nullptr && has_fact(output, "makespan_ns")) return "A run";
  if (table_of(output, "devices") != nullptr && has_fact(output, "median_ns")) return "Real runs";
  if (table_of(output, "decisions") != nullptr) return "Server";
  if (table_of(output, "jobs") != nullptr) return "Jobs of a server";
  if (table_of(output, "policies") != nullptr) return "Policies";
  return "Output";
}

// Which figure is worth a drawing, in this order; and where half of its interval stands.
struct Drawn {
  const char* value;
  const char* half_interval;
  bool least = true;
};
constexpr Drawn kDrawn[] = {{"mean_slowdown", "mean_slowdown_half_interval"},
                            {"measured_ns.mean", "measured_ns.half_interval"},
                            {"makespan_ns", ""},
                            {"makespan_ns.mean", ""},
                            {"busy", "", false}};

std::optional<OutputChart> chart_of(const CommandOutput& output) {
  for (const Drawn& drawn : kDrawn) {
    for (size_t t = 0; t < output.tables.size(); ++t) {
      const OutputTable& table = output.tables[t];
      const int value = column_of(table, drawn.value);
      const bool labelled = !table.rows.empty() && !table.columns.empty() &&
                            std::holds_alternative<std::string>(table.rows[0][0]);
      if (value < 0 || !labelled || table.rows.size() < 2) continue;
      return OutputChart{.table = static_cast<int>(t),
                         .label = 0,
                         .value = value,
                         .more = column_of(table, drawn.half_interval),
                         .least = drawn.least};
    }
  }
  return std::nullopt;
}

// A run of a served job: its start and its end are lines of their own.
struct ServedRun {
  std::string job;
  double attempt = 0;
  std::optional<double> start_ns{};
  std::optional<double> end_ns{};
  std::string state = "running";
  std::string message{};
};

bool is_run_event(const Document& line) {
  const Document* event = line.find("event");
  return event != nullptr && line.find("job") != nullptr && line.find("unix_ns") != nullptr;
}

class RunLog {
 public:
  void add(const Document& line) {
    const auto text = [&](const char* key) {
      const Document* item = line.find(key);
      return item == nullptr ? std::string() : item->text;
    };
    const auto number = [&](const char* key) {
      const Document* item = line.find(key);
      return item == nullptr ? 0.0 : item->number;
    };
    ServedRun& run = run_of(text("job"), number("attempt"));
    const double at = number("unix_ns");
    first_ = first_ ? std::min(*first_, at) : at;
    if (line.find("state") == nullptr) {
      run.start_ns = at;
      return;
    }
    run.end_ns = at;
    run.state = text("state");
    run.message = text("message");
    ++states_[run.state];
  }

  void write(CommandOutput& output) const {
    output.title = "Runs of a server";
    output.facts.push_back({"runs", static_cast<double>(runs_.size())});
    for (const auto& [state, count] : states_) output.facts.push_back({state, double(count)});
    OutputTable table{
        .title = "runs",
        .columns = {"job", "attempt", "started_after_ns", "took_ns", "state", "message"}};
    for (const ServedRun& run : runs_) {
      if (table.rows.size() == kMostOutputRows) {
        ++table.left_out;
        continue;
      }
      OutputCell start;
      OutputCell took;
      if (run.start_ns) start = *run.start_ns - *first_;
      if (run.start_ns && run.end_ns) took = *run.end_ns - *run.start_ns;
      table.rows.push_back({run.job, run.attempt, start, took, run.state, run.message});
    }
    output.tables.push_back(std::move(table));
    output.chart = OutputChart{.kind = OutputChart::Kind::spans, .table = 0, .value = 2, .more = 3};
  }

 private:
  ServedRun& run_of(const std::string& job, double attempt) {
    const auto [found, is_new] = index_.try_emplace({job, attempt}, runs_.size());
    if (is_new) runs_.push_back({.job = job, .attempt = attempt});
    return runs_[found->second];
  }

  std::vector<ServedRun> runs_;
  std::map<std::pair<std::string, double>, size_t> index_;
  std::map<std::string, int64_t> states_;
  std::optional<double> first_;
};

Result<void> read_lines(Source& source, CommandOutput& output) {
  OutputReader reader(output);
  RunLog log;
  bool runs = false;
  int64_t lines = 0;
  for (;;) {
    const Result<JsonLine> line =
        next_json_line(source, kLongestOutputLine, "; leave it out of the report");
    if (!line) return line.error();
    if (line->blank() && !line->whole) break;
    if (line->blank()) continue;
    const Result<Document> read = read_json_line(*line, source.name());
    if (!read && !line->whole) break;  // the writer was stopped
    if (!read) return read.error();
    if (read->kind != Document::Kind::object) {
      return invalid_input(
          fmt::format("{}:{}: a line must be a JSON object", source.name(), line->number));
    }
    if (lines++ == 0) runs = is_run_event(*read);
    if (runs) {
      log.add(*read);
    } else {
      reader.add_row("lines", *read, "", "");
    }
    if (!line->whole) break;
  }
  if (lines == 0) return invalid_input(source.name() + ": there is no line in it");
  if (runs) {
    log.write(output);
    return {};
  }
  reader.even_out();
  output.title = "Log";
  output.facts.insert(output.facts.begin(), {"lines", static_cast<double>(lines)});
  output.chart = chart_of(output);
  return {};
}

// A whole object stands on the first line, and another begins on the next; or nothing follows and
// it is no output of a command, which is never on one line.
bool looks_like_lines(std::string_view start) {
  const size_t end = start.find('\n');
  if (start.empty() || start[0] != '{' || end == std::string_view::npos || end < 2) return false;
  if (start[start.find_last_not_of(" \t\r", end - 1)] != '}') return false;
  const size_t next = start.find_first_not_of(" \t\r\n", end);
  return next == std::string_view::npos ? start.find("\"event\"") < end : start[next] == '{';
}

std::string_view text_after(std::string_view start, std::string_view key) {
  const size_t at = start.find(key);
  if (at == std::string_view::npos) return {};
  const size_t value = start.find_first_not_of(" \t\r\n:", at + key.size());
  return value == std::string_view::npos ? std::string_view() : start.substr(value);
}

void write_cell(const OutputCell& cell, JsonWriter& json) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    json.value(*text);
  } else if (const auto* number = std::get_if<double>(&cell); number && std::isfinite(*number)) {
    json.value(*number);
  } else if (const auto* boolean = std::get_if<bool>(&cell)) {
    json.value(*boolean);
  } else {
    json.null();
  }
}

}  // namespace

bool looks_like_command_output(std::string_view start) {
  const size_t first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || start[first] != '{') return false;
  start.remove_prefix(first);
  if (looks_like_lines(start)) return true;
  const std::string_view format = text_after(start, "\"format\"");
  const std::string_view ops = text_after(start, "\"ops\"");
  if (format.starts_with("\"tutti-graph\"")) {  // also what tutti graph info says of one
    return !ops.empty() && ops[0] >= '0' && ops[0] <= '9';
  }
  if (format.starts_with("\"tutti-")) return true;
  const size_t at = start.find_first_not_of(" \t\r\n", 1);
  const std::string_view key = at == std::string_view::npos ? std::string_view() : start.substr(at);
  // What a server answers about its jobs, or about one, has no version: its address has.
  const bool of_jobs = key.starts_with("\"jobs\"") || key.starts_with("\"id\"");
  return key.starts_with("\"schema_version\"") ||
         (of_jobs && start.find("\"attempts\"") != std::string_view::npos);
}

Result<CommandOutput> read_command_output(Source& source) {
  CommandOutput output{.name = source.name(), .title = "Output"};
  const std::string_view start = source.peek();
  const size_t first = std::min(start.find_first_not_of(" \t\r\n"), start.size());
  if (looks_like_lines(start.substr(first))) {
    if (auto read = read_lines(source, output); !read) return read.error();
    return output;
  }
  const Result<Document> root = read_json(source);
  if (!root) return root.error();
  if (root->kind != Document::Kind::object) {
    return invalid_input(output.name + ": this is no output of tutti: it must be a JSON object");
  }
  OutputReader reader(output);
  reader.read_object(*root, "");
  reader.even_out();
  output.title = title_of(output);
  output.chart = chart_of(output);
  return output;
}

void write_command_output(const CommandOutput& output, JsonWriter& json) {
  json.open_object().field("name", output.name).field("title", output.title);
  json.key("facts").open_list();
  for (const OutputFact& fact : output.facts) {
    json.open_list().value(fact.key);
    write_cell(fact.value, json);
    json.close_list();
  }
  json.close_list().key("tables").open_list();
  for (const OutputTable& table : output.tables) {
    json.open_object().field("title", table.title).key("columns").open_list();
    for (const std::string& column : table.columns) json.value(column);
    json.close_list().field("left_out", table.left_out).key("rows").open_list();
    for (const auto& row : table.rows) {
      json.open_list();
      for (const OutputCell& cell : row) write_cell(cell, json);
      json.close_list();
    }
    json.close_list().close_object();
  }
  json.close_list().key("chart");
  if (output.chart) {
    const OutputChart& chart = *output.chart;
    json.open_object().field("kind", chart.kind == OutputChart::Kind::bars ? "bars" : "spans");
    json.field("table", chart.table).field("label", chart.label).field("value", chart.value);
    json.field("more", chart.more).field("least", chart.least).close_object();
  } else {
    json.null();
  }
  json.close_object();
}

}  // namespace tutti
