#include "tutti/graph/import/wf_workflow.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "tutti/base/file/fields.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

// "blastall_ID000002" -> "blastall".
std::string without_id(const std::string& name) {
  const size_t id = name.rfind("_ID");
  if (id == std::string::npos || id == 0) return name;
  const bool digits = name.find_first_not_of("0123456789", id + 3) == std::string::npos;
  return digits ? name.substr(0, id) : name;
}

// Some systems put a whole script where the program's name belongs.
bool is_program_name(const std::string& program) {
  return !program.empty() && program.size() <= 64 &&
         program.find_first_of(" \t\r\n") == std::string::npos;
}

std::optional<Duration> seconds(Fields& fields, const char* key) {
  constexpr double kNsPerSecond = 1e9;
  const Document* entry = fields.entry(key);
  if (entry == nullptr) return std::nullopt;
  const auto amount =
      fields.as_number(*entry, key, {.most = static_cast<double>(kLongestTimeNs) / kNsPerSecond});
  return nanoseconds_of(amount.value_or(0) * kNsPerSecond);
}

class WorkflowReader {
 public:
  explicit WorkflowReader(std::string file) : file_(std::move(file)) {
    nothing_.kind = Document::Kind::object;
  }

  Result<WfWorkflow> read(const Document& root) {
    Fields top(root, file_, "the document");
    flow_.name = top.text("name", "workflow");
    const Document* workflow = top.entry("workflow");
    const Document* specification = workflow != nullptr ? workflow->find("specification") : nullptr;
    const Document* tasks = specification != nullptr ? specification->find("tasks") : nullptr;
    if (tasks == nullptr) {
      top.fail(
          "there is no workflow.specification.tasks; tutti reads WfFormat 1.5, so convert the "
          "file to it");
    }
    if (auto done = top.done_with_foreign_keys(); !done) return done.error();
    if (auto read = read_specification(*specification); !read) return read.error();
    const Document* execution = workflow->find("execution");
    if (auto read = read_execution(execution != nullptr ? *execution : nothing_); !read) {
      return read.error();
    }
    return std::move(flow_);
  }

 private:
  Result<void> read_specification(const Document& section) {
    Fields fields(section, file_, "workflow.specification");
    const std::vector<Document>& tasks = fields.items("tasks");
    const std::vector<Document>& files = fields.items("files");
    if (auto done = fields.done_with_foreign_keys(); !done) return done;
    for (const Document& file : files) {
      if (auto read = read_file(file); !read) return read;
    }
    for (const Document& task : tasks) {  // all ids first: parents may come behind their children
      if (auto read = read_id(task); !read) return read;
    }
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (auto read = read_task(tasks[i], static_cast<int32_t>(i)); !read) return read;
    }
    return {};
  }

  Result<void> read_file(const Document& entry) {
    Fields fields(entry, file_, "file");
    const std::string id = fields.text("id");
    const int64_t bytes = fields.integer("sizeInBytes", {.fallback = -1, .most = kMostBytes});
    if (auto done = fields.done_with_foreign_keys(); !done) return done;
    if (flow_.file_ids.find(id)) {
      return error_at(file_, entry.line, fmt::format("file '{}' stands twice; remove one", id));
    }
    flow_.file_bytes[file_of(id)] = bytes;
    return {};
  }

  Result<void> read_id(const Document& entry) {
    Fields fields(entry, file_, "task");
    const std::string id = fields.text("id");
    if (auto done = fields.done_with_foreign_keys(); !done) return done;
    if (flow_.task_ids.find(id)) {
      return error_at(file_, entry.line, fmt::format("task '{}' stands twice; rename one", id));
    }
    flow_.task_ids.add(id);
    flow_.tasks.emplace_back().line = entry.line;
    return {};
  }

  Result<void> read_task(const Document& entry, int32_t number) {
    Fields fields(entry, file_, "task");
    WfTask& task = flow_.tasks[number];
    task.kind = without_id(fields.text("name", std::string(flow_.task_ids.name(number))));
    for (const std::string& id : fields.texts("inputFiles")) task.inputs.push_back(file_of(id));
    for (const std::string& id : fields.texts("outputFiles")) task.outputs.push_back(file_of(id));
    for (const std::string& id : fields.texts("parents")) {
      if (const auto parent = task_of(id, fields)) task.parents.push_back(*parent);
    }
    for (const std::string& id : fields.texts("children")) {
      if (const auto child = task_of(id, fields)) flow_.tasks[*child].parents.push_back(number);
    }
    return fields.done_with_foreign_keys();
  }

  Result<void> read_execution(const Document& section) {
    Fields fields(section, file_, "workflow.execution");
    flow_.makespan = seconds(fields, "makespanInSeconds");
    const std::vector<Document>& machines = fields.items("machines");
    const std::vector<Document>& tasks = fields.items("tasks");
    if (auto done = fields.done_with_foreign_keys(); !done) return done;
    for (const Document& machine : machines) {
      if (auto read = read_machine(machine); !read) return read;
    }
    for (const Document& task : tasks) {
      if (auto read = read_run(task); !read) return read;
    }
    // With one machine there is no doubt where a task ran.
    for (WfTask& task : flow_.tasks) {
      if (flow_.hosts.size() == 1) task.host = 0;
    }
    return {};
  }

  Result<void> read_machine(const Document& entry) {
    Fields fields(entry, file_, "machine");
    WfHost host;
    host.name = fields.text("nodeName");
    host.memory_bytes = fields.integer("memoryInBytes", {.fallback = 0, .most = kMostBytes});
    const Document* cpu_entry = fields.entry("cpu");
    Fields cpu(cpu_entry != nullptr ? *cpu_entry : nothing_, file_, "cpu");
    host.cores = static_cast<int>(cpu.integer("coreCount", {.fallback = 0, .most = 1 << 20}));
    host.speed_mhz = cpu.number("speedInMHz", {.fallback = 0, .most = 1e9});
    if (auto done = fields.done_with_foreign_keys(); !done) return done;
    if (auto done = cpu.done_with_foreign_keys(); !done) return done;
    const int32_t number = host_names_.add(host.name);
    if (number != static_cast<int32_t>(flow_.hosts.size())) {
      return error_at(file_, entry.line,
                      fmt::format("machine '{}' stands twice; remove one", host.name));
    }
    flow_.hosts.push_back(std::move(host));
    return {};
  }

  Result<void> read_run(const Document& entry) {
    Fields fields(entry, file_, "task");
    const auto number = task_of(fields.text("id"), fields);
    const std::optional<Duration> run_time = seconds(fields, "runtimeInSeconds");
    const int64_t memory = fields.integer("memoryInBytes", {.fallback = 0, .most = kMostBytes});
    const std::vector<std::string> machines = fields.texts("machines");
    const Document* command = fields.entry("command");
    if (auto done = fields.done_with_foreign_keys(); !done) return done;
    WfTask& task = flow_.tasks[*number];
    task.run_time = run_time.value_or(Duration{0});
    task.has_run_time = run_time.has_value();
    task.memory_bytes = memory;
    if (command != nullptr) read_command(*command, task);
    if (!machines.empty()) task.host = host_names_.find(machines[0]).value_or(-1);
    return {};
  }

  static void read_command(const Document& command, WfTask& task) {
    const Document* program = command.find("program");
    const Document* arguments = command.find("arguments");
    if (program == nullptr || program->kind != Document::Kind::text) return;
    if (is_program_name(program->text)) task.kind = program->text;
    if (program->text.empty() || program->text.find('\n') != std::string::npos) return;
    task.argv = {program->text};
    if (arguments == nullptr) return;
    for (const Document& argument : arguments->items) {
      if (argument.kind != Document::Kind::text) return task.argv.clear();
      task.argv.push_back(argument.text);
    }
  }

  int32_t file_of(std::string_view id) {
    const int32_t number = flow_.file_ids.add(id);
    if (static_cast<size_t>(number) == flow_.file_bytes.size()) flow_.file_bytes.push_back(-1);
    return number;
  }

  std::optional<int32_t> task_of(const std::string& id, Fields& fields) {
    const auto number = flow_.task_ids.find(id);
    if (!number) fields.fail(fmt::format("there is no task '{}'; fix the id or add it", id));
    return number;
  }

  std::string file_;
  Document nothing_;  // stands for a section that is not there
  WfWorkflow flow_;
  NameTable host_names_;  // numbered like the hosts
};

}  // namespace

Result<WfWorkflow> workflow_from(const Document& document, const std::string& file) {
  return WorkflowReader(file).read(document);
}

}  // namespace tutti
