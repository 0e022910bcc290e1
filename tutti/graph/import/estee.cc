#include "tutti/graph/import/estee.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "tutti/base/file/fields.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

constexpr double kNsPerS = 1e9;
constexpr double kBytesPerMb = 1e6;

struct EsteeTask {
  Duration run_time{};
  int64_t cpus = 1;
  std::vector<int64_t> output_bytes{};
};

Result<EsteeTask> read_task(const Document& item, const std::string& file) {
  EsteeTask task;
  Fields fields(item, file, "task");
  task.run_time = nanoseconds_of(
      kNsPerS * fields.number("d", {.most = static_cast<double>(kLongestTimeNs) / kNsPerS}));
  task.cpus = fields.integer("cpus", {.fallback = 1, .least = 1});
  for (const Document& output : fields.items("outputs")) {
    Fields parts(output, file, "output");
    const double megabytes =
        parts.number("s", {.most = static_cast<double>(kMostBytes) / kBytesPerMb});
    task.output_bytes.push_back(static_cast<int64_t>(megabytes * kBytesPerMb));
    if (const auto done = parts.done_with_foreign_keys(); !done) fields.fail_with(done.error());
  }
  fields.items("inputs");  // a list; read_inputs reads it
  if (const auto done = fields.done_with_foreign_keys(); !done) return done.error();
  return task;
}

// The values that a task reads. first_value[i] is the first that task i makes, and the entry behind
// the last task is the number of all values.
Result<std::vector<ValueId>> read_inputs(const Document& item, const std::string& file,
                                         const std::vector<int32_t>& first_value) {
  std::vector<ValueId> operands;
  Fields fields(item, file, "task");
  for (const Document& pair : fields.items("inputs")) {
    if (pair.kind != Document::Kind::array || pair.items.size() != 2) {
      return error_at(file, pair.line, "an input is a list of a task and one of its outputs");
    }
    const auto tasks = static_cast<int64_t>(first_value.size()) - 1;
    const auto task = fields.as_integer(pair.items[0], "a task", {.most = tasks - 1});
    if (!task) break;
    const int64_t outputs = first_value[*task + 1] - first_value[*task];
    if (outputs == 0) {
      return error_at(file, pair.line, fmt::format("task {} makes no output to read", *task));
    }
    const auto output = fields.as_integer(pair.items[1], "an output", {.most = outputs - 1});
    if (!output) break;
    operands.push_back(ValueId{first_value[*task] + static_cast<int32_t>(*output)});
  }
  if (const auto done = fields.done_with_foreign_keys(); !done) return done.error();
  return operands;
}

}  // namespace

bool looks_like_estee(std::string_view start) {
  return looks_like_json(start, '[', "e_d");
}

Result<Imported> read_estee(Source& source, const ImportOptions& /*options*/) {
  const Result<Document> document = read_json(source);
  if (!document) return document.error();
  if (document->kind != Document::Kind::array) {
    return error_at(source.name(), document->line, "an Estee graph is a list of tasks");
  }
  std::vector<EsteeTask> tasks;
  std::vector<int32_t> first_value = {0};
  for (const Document& item : document->items) {
    Result<EsteeTask> task = read_task(item, source.name());
    if (!task) return task.error();
    first_value.push_back(first_value.back() + static_cast<int32_t>(task->output_bytes.size()));
    tasks.push_back(std::move(*task));
  }
  GraphBuilder builder(graph_name_of(source));
  int64_t wide = 0;
  for (size_t i = 0; i < tasks.size() && !builder.too_large(); ++i) {
    const auto operands = read_inputs(document->items[i], source.name(), first_value);
    if (!operands) return operands.error();
    std::vector<ValueSpec> outputs;
    for (const int64_t bytes : tasks[i].output_bytes) outputs.push_back({.bytes = bytes});
    const GivenTime run_time = {"", tasks[i].run_time};
    builder.add_op({.name = fmt::format("task{}", i),
                    .kind = "task",
                    .operands = *operands,
                    .outputs = outputs,
                    .run_times = {&run_time, 1}});
    wide += tasks[i].cpus > 1;
  }
  Result<Imported> imported = imported_from(std::move(builder).build(), source);
  if (imported && wide > 0) {
    imported->warnings.push_back(fmt::format(
        "{} tasks ask for more than one CPU; each is taken to need one slot for as long", wide));
  }
  return imported;
}

}  // namespace tutti
