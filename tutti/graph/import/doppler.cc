#include "tutti/graph/import/doppler.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/graph/import/incoming.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/name_table.h"

namespace tutti {
namespace {

constexpr int64_t kMostOps = std::numeric_limits<int32_t>::max();

struct Row {
  Duration run_time;
  Duration transfer_time;
  int32_t kind;  // in the table of kinds
};

Result<void> next_header_line(Lines& lines, const char* holds) {
  const Result<bool> there = lines.next();
  if (!there) return there.error();
  if (!*there) return lines.error(fmt::format("the file ends where {} should stand", holds));
  return {};
}

Result<int64_t> op_count(Lines& lines) {
  if (auto there = next_header_line(lines, "the count of ops"); !there) return there.error();
  const auto words = split(lines.text(), " \t");
  const Result<int64_t> count =
      read_whole(words.size() == 1 ? words[0] : lines.text(), "the count of ops", kMostOps);
  if (!count) return lines.error(count.error().message);
  return count;
}

Result<std::vector<int32_t>> id_list(Lines& lines, const char* holds) {
  if (auto there = next_header_line(lines, holds); !there) return there.error();
  std::vector<int32_t> ids;
  for (const std::string_view word : split(lines.text(), ", \t")) {
    const Result<int64_t> id = read_whole(word, "an id", kMostOps);
    if (!id) return lines.error(id.error().message);
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

Result<Row> read_row(const Lines& lines, NameTable& kinds) {
  const auto words = split(lines.text(), ", \t");
  if (words.size() != 2 && words.size() != 3) {
    return lines.error(
        fmt::format("a row is \"comp,comm\" or \"comp,comm,kind\", not {} words", words.size()));
  }
  const Result<Duration> run_time = read_time(words[0], "comp");
  if (!run_time) return lines.error(run_time.error().message);
  const Result<Duration> transfer_time = read_time(words[1], "comm");
  if (!transfer_time) return lines.error(transfer_time.error().message);
  return Row{*run_time, *transfer_time, kinds.add(words.size() == 3 ? words[2] : "op")};
}

Result<void> check_ids(const Source& source, int line, const std::vector<int32_t>& ids,
                       size_t rows) {
  for (const int32_t id : ids) {
    if (static_cast<size_t>(id) < rows) continue;
    return error_at(source.name(), line,
                    fmt::format("id {} is out of range: there are {} ops that are not inputs, "
                                "counted from 0",
                                id, rows));
  }
  return {};
}

}  // namespace

bool looks_like_doppler(std::string_view start) {
  const size_t end_of_first = start.find('\n');
  if (end_of_first == std::string_view::npos) return false;
  if (start.substr(0, end_of_first).find_first_not_of("0123456789 \t\r") !=
          std::string_view::npos ||
      split(start.substr(0, end_of_first), " \t\r").size() != 1) {
    return false;
  }
  const std::string_view rest = start.substr(end_of_first + 1);
  const std::string_view second = rest.substr(0, rest.find('\n'));
  if (second.find_first_not_of("0123456789, \t\r") != std::string_view::npos) return false;
  return second.find(',') != std::string_view::npos || split(second, " \t\r").size() < 3;
}

Result<Imported> read_doppler(Source& source, const ImportOptions& /*options*/) {
  Lines lines(source);
  const Result<int64_t> total = op_count(lines);
  if (!total) return total.error();
  const Result<std::vector<int32_t>> inputs = id_list(lines, "the ids of the inputs");
  if (!inputs) return inputs.error();
  const Result<std::vector<int32_t>> from = id_list(lines, "the sources of the edges");
  if (!from) return from.error();
  const Result<std::vector<int32_t>> to = id_list(lines, "the destinations of the edges");
  if (!to) return to.error();
  if (from->size() != to->size()) {
    return lines.error(fmt::format("line 3 lists {} edges and line 4 lists {}; they must agree",
                                   from->size(), to->size()));
  }

  NameTable kinds;
  std::vector<Row> rows;
  for (;;) {
    const Result<bool> there = lines.next();
    if (!there) return there.error();
    if (!*there) break;
    if (lines.blank()) continue;
    const Result<Row> row = read_row(lines, kinds);
    if (!row) return row.error();
    rows.push_back(*row);
  }
  const int64_t due = *total - static_cast<int64_t>(inputs->size());
  if (due != static_cast<int64_t>(rows.size())) {
    return lines.error(fmt::format("there are {} rows of costs, but {} ops less {} inputs are {}",
                                   rows.size(), *total, inputs->size(), due));
  }
  if (auto good = check_ids(source, 3, *from, rows.size()); !good) return good.error();
  if (auto good = check_ids(source, 4, *to, rows.size()); !good) return good.error();

  GraphBuilder builder(graph_name_of(source));
  const auto ops = static_cast<int32_t>(rows.size());
  const Incoming incoming(*to, ops);
  const std::vector<ValueSpec> outputs(1);
  std::vector<ValueId> operands;
  for (int32_t op = 0; op < ops && !builder.too_large(); ++op) {
    // Every op makes one value and there are no inputs, so that values are numbered like ops.
    operands.clear();
    for (const size_t edge : incoming.of(op)) operands.push_back(ValueId{(*from)[edge]});
    const GivenTime run_time = {"", rows[op].run_time};
    const int32_t first_edge = builder.edge_count();
    builder.add_op({.name = fmt::format("op{}", op),
                    .kind = kinds.name(rows[op].kind),
                    .operands = operands,
                    .outputs = outputs,
                    .run_times = {&run_time, 1}});
    for (size_t i = 0; i < operands.size(); ++i) {
      builder.give_transfer(EdgeId{first_edge + static_cast<int32_t>(i)},
                            {"", "", rows[operands[i].index].transfer_time});
    }
  }
  return imported_from(std::move(builder).build(), source);
}

}  // namespace tutti
