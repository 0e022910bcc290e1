#include "tutti/graph/import/stg.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/graph/import/text.h"

namespace tutti {
namespace {

constexpr int64_t kDummies = 2;
constexpr int64_t kMostTasks = std::numeric_limits<int32_t>::max() - kDummies;

// The words of the next line that has any, comments apart; no words at the end of the file.
Result<std::vector<std::string_view>> next_words(Lines& lines) {
  for (;;) {
    const Result<bool> there = lines.next();
    if (!there) return there.error();
    if (!*there) return std::vector<std::string_view>();
    auto words = split(lines.text().substr(0, lines.text().find('#')), " \t");
    if (!words.empty()) return words;
  }
}

struct StgTask {
  Duration run_time;
  std::vector<ValueId> operands;
};

// `row` is the id it must have, `rows` how many there are to be.
Result<StgTask> read_task(const Lines& lines, const std::vector<std::string_view>& words,
                          int32_t row, int64_t rows) {
  if (words.size() < 3) {
    return lines.error("a row is an id, a time, a count of predecessors and their ids");
  }
  const Result<int64_t> id = read_whole(words[0], "an id", rows - 1);
  if (!id) return lines.error(id.error().message);
  if (*id != row) {
    return lines.error(fmt::format("id {} stands where {} is due; ids ascend from 0", *id, row));
  }
  StgTask task;
  const Result<Duration> time = read_time(words[1], "a time");
  if (!time) return lines.error(time.error().message);
  task.run_time = *time;
  const Result<int64_t> count = read_whole(words[2], "a count of predecessors", rows);
  if (!count) return lines.error(count.error().message);
  if (static_cast<size_t>(*count) != words.size() - 3) {
    return lines.error(
        fmt::format("{} predecessors are announced and {} are listed", *count, words.size() - 3));
  }
  for (size_t i = 3; i < words.size(); ++i) {
    const Result<int64_t> from = read_whole(words[i], "the id of a predecessor", rows - 1);
    if (!from) return lines.error(from.error().message);
    // Every op makes one value and there are no inputs, so that values are numbered like ops.
    task.operands.push_back(ValueId{static_cast<int32_t>(*from)});
  }
  return task;
}

}  // namespace

bool looks_like_stg(std::string_view start) {
  // One number alone, then a row of at least three, past comments.
  int number_lines = 0;
  while (!start.empty()) {
    const size_t end = std::min(start.find('\n'), start.size());
    const std::string_view line = start.substr(0, std::min(start.find('#'), end));
    start.remove_prefix(std::min(end + 1, start.size()));
    if (line.find_first_not_of("0123456789 \t\r.-") != std::string_view::npos) return false;
    const size_t words = split(line, " \t\r").size();
    if (words == 0) continue;
    if (++number_lines == 2) return words >= 3;
    if (words != 1) return false;
  }
  return number_lines == 1;
}

Result<Imported> read_stg(Source& source, const ImportOptions& /*options*/) {
  Lines lines(source);
  const auto first = next_words(lines);
  if (!first) return first.error();
  if (first->size() != 1) return lines.error("the file must begin with the count of tasks alone");
  const Result<int64_t> tasks = read_whole((*first)[0], "the count of tasks", kMostTasks);
  if (!tasks) return lines.error(tasks.error().message);
  const int64_t rows = *tasks + kDummies;

  GraphBuilder builder(graph_name_of(source));
  const std::vector<ValueSpec> outputs(1);
  for (;;) {
    const auto words = next_words(lines);
    if (!words) return words.error();
    if (words->empty()) break;
    const int32_t row = builder.op_count();
    if (row == rows) {
      return lines.error(
          fmt::format("there are more than {} rows: {} tasks and 2 dummies", rows, *tasks));
    }
    const Result<StgTask> task = read_task(lines, *words, row, rows);
    if (!task) return task.error();
    const GivenTime run_time = {"", task->run_time};
    builder.add_op({.name = fmt::format("op{}", row),
                    .kind = "op",
                    .operands = task->operands,
                    .outputs = outputs,
                    .run_times = {&run_time, 1}});
    if (builder.too_large()) break;
  }
  if (builder.op_count() != rows && !builder.too_large()) {
    return lines.error(
        fmt::format("the file ends after {} rows, but {} tasks and 2 dummies are due",
                    builder.op_count(), *tasks));
  }
  return imported_from(std::move(builder).build(), source);
}

}  // namespace tutti
