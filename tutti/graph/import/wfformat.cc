#include "tutti/graph/import/wfformat.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/import/wf_workflow.h"

namespace tutti {
namespace {

constexpr int32_t kNobody = -1;

// Which task makes each file; kNobody for the files that are there from the start.
Result<std::vector<int32_t>> makers_of(const WfWorkflow& flow, const std::string& file) {
  std::vector<int32_t> maker(flow.file_bytes.size(), kNobody);
  for (int32_t task = 0; task < flow.task_ids.size(); ++task) {
    for (const int32_t output : flow.tasks[task].outputs) {
      if (maker[output] != kNobody) {
        return error_at(file, flow.tasks[task].line,
                        fmt::format("file '{}' is made by task '{}' and by task '{}'; keep one",
                                    flow.file_ids.name(output), flow.task_ids.name(maker[output]),
                                    flow.task_ids.name(task)));
      }
      maker[output] = task;
    }
  }
  return maker;
}

// The parents of a task from which it reads no file, each once.
std::vector<int32_t> fileless_parents(const WfTask& task, const std::vector<int32_t>& maker) {
  std::vector<int32_t> carried;
  for (const int32_t file : task.inputs) carried.push_back(maker[file]);
  std::sort(carried.begin(), carried.end());
  std::vector<int32_t> parents = task.parents;
  std::sort(parents.begin(), parents.end());
  parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
  std::vector<int32_t> fileless;
  std::set_difference(parents.begin(), parents.end(), carried.begin(), carried.end(),
                      std::back_inserter(fileless));
  return fileless;
}

class WfBuilder {
 public:
  WfBuilder(const WfWorkflow& flow, std::vector<int32_t> maker)
      : flow_(flow), maker_(std::move(maker)), value_of_file_(maker_.size()) {}

  Result<Imported> build(const ImportOptions& options) {
    Imported imported;
    GraphBuilder builder(flow_.name);
    number_values(builder);
    for (int32_t task = 0; task < flow_.task_ids.size() && !builder.too_large(); ++task) {
      add_op(builder, task, options);
      imported.host_of_op.push_back(flow_.tasks[task].host);
    }
    Result<Graph> graph = std::move(builder).build();
    if (!graph) return graph.error();
    imported.graph = std::move(*graph);
    imported.hosts = flow_.hosts;
    imported.measured_makespan = flow_.makespan;
    warn(imported.warnings);
    return imported;
  }

 private:
  // Inputs first, then the outputs of each op in turn, so that an op can read a value that is yet
  // to be added.
  void number_values(GraphBuilder& builder) {
    std::vector<bool> is_read(maker_.size(), false);
    std::vector<bool> hands_on(flow_.tasks.size(), false);
    fileless_.reserve(flow_.tasks.size());
    for (const WfTask& task : flow_.tasks) {
      for (const int32_t file : task.inputs) is_read[file] = true;
      fileless_.push_back(fileless_parents(task, maker_));
      for (const int32_t parent : fileless_.back()) hands_on[parent] = true;
    }
    for (size_t file = 0; file < maker_.size(); ++file) {
      if (flow_.file_bytes[file] < 0) ++without_size_;
      if (maker_[file] != kNobody || !is_read[file]) continue;
      value_of_file_[file] = builder.add_input({.value = value_spec(static_cast<int32_t>(file)),
                                                .residence = {.where = Residence::Where::host}});
    }
    int32_t next = builder.value_count();
    done_value_.resize(flow_.tasks.size());
    for (size_t task = 0; task < flow_.tasks.size(); ++task) {
      for (const int32_t file : flow_.tasks[task].outputs) value_of_file_[file] = ValueId{next++};
      if (hands_on[task]) done_value_[task] = ValueId{next++};
    }
  }

  void add_op(GraphBuilder& builder, int32_t number, const ImportOptions& options) {
    const WfTask& task = flow_.tasks[number];
    std::vector<ValueId> operands;
    for (const int32_t file : task.inputs) {
      if (maker_[file] == number) {
        ++reads_of_own_;
      } else {
        operands.push_back(value_of_file_[file]);
      }
    }
    for (const int32_t parent : fileless_[number]) operands.push_back(done_value_[parent]);
    std::vector<ValueSpec> outputs;
    for (const int32_t file : task.outputs) outputs.push_back(value_spec(file));
    if (done_value_[number].valid()) outputs.push_back({.name = done_name(number)});
    const Command command = command_of(number);
    const bool can_run = fault_of(command).empty();
    // A command that was never timed takes its time all the same (tutti/costs/assumed.h), and one
    // of zero was not timed.
    const bool unknown = can_run && (!task.has_run_time || task.run_time.count() == 0);
    if (!unknown && task.run_time.count() == 0) ++without_run_time_;
    const GivenTime run_time = {
        "", options.scale_by_machine_speed ? scaled_run_time(task) : task.run_time};
    builder.add_op({.name = flow_.task_ids.name(number),
                    .kind = task.kind,
                    .operands = operands,
                    .outputs = outputs,
                    .transient_bytes = task.memory_bytes,
                    .run_times = {&run_time, unknown ? size_t{0} : size_t{1}},
                    .command = can_run ? &command : nullptr});
  }

  Command command_of(int32_t number) const {
    const WfTask& task = flow_.tasks[number];
    Command command{.argv = task.argv};
    for (const int32_t file : task.inputs) {
      if (maker_[file] != number) command.input_files.emplace_back(flow_.file_ids.name(file));
    }
    for (const int32_t file : task.outputs) {
      command.output_files.emplace_back(flow_.file_ids.name(file));
    }
    return command;
  }

  // What the task would take at the clock of the fastest machine.
  Duration scaled_run_time(const WfTask& task) {
    double fastest = 0;
    for (const WfHost& host : flow_.hosts) fastest = std::max(fastest, host.speed_mhz);
    const double speed = task.host >= 0 ? flow_.hosts[task.host].speed_mhz : 0;
    if (speed <= 0) {
      ++without_speed_;
      return task.run_time;
    }
    return nanoseconds_of(static_cast<double>(task.run_time.count()) * (speed / fastest));
  }

  ValueSpec value_spec(int32_t file) const {
    return {.name = std::string(flow_.file_ids.name(file)),
            .bytes = std::max(flow_.file_bytes[file], int64_t{0})};
  }

  // No file is called so.
  std::string done_name(int32_t task) const {
    std::string name = fmt::format("{}:done", flow_.task_ids.name(task));
    while (flow_.file_ids.find(name)) name += '+';
    return name;
  }

  void warn(std::vector<std::string>& warnings) const {
    const auto tell = [&](int count, const char* sentence) {
      if (count > 0) warnings.push_back(fmt::format(fmt::runtime(sentence), count));
    };
    tell(without_run_time_,
         "{} tasks have no run time or one of zero; they are taken to need none");
    tell(without_size_, "{} files have no size; they are taken to be empty");
    tell(reads_of_own_, "{} files are read by the task that makes them; those reads are left out");
    tell(without_speed_,
         "{} tasks ran at a speed the file does not give; their times are unscaled");
  }

  const WfWorkflow& flow_;
  std::vector<int32_t> maker_;                  // by file
  std::vector<ValueId> value_of_file_;          // invalid: no task makes or reads it
  std::vector<ValueId> done_value_;             // by task; invalid: files carry all its edges
  std::vector<std::vector<int32_t>> fileless_;  // by task
  int without_run_time_ = 0;
  int without_size_ = 0;
  int reads_of_own_ = 0;
  int without_speed_ = 0;
};

}  // namespace

bool looks_like_wfformat(std::string_view start) {
  return looks_like_json(start, '{', "workflow");
}

Result<Imported> read_wfformat(Source& source, const ImportOptions& options) {
  const Result<Document> document = read_json(source);
  if (!document) return document.error();
  const Result<WfWorkflow> flow = workflow_from(*document, source.name());
  if (!flow) return flow.error();
  Result<std::vector<int32_t>> maker = makers_of(*flow, source.name());
  if (!maker) return maker.error();
  Result<Imported> imported = WfBuilder(*flow, std::move(*maker)).build(options);
  if (!imported) return invalid_input(source.name() + ": " + imported.error().message);
  return imported;
}

}  // namespace tutti
