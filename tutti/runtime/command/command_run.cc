#include "tutti/runtime/command/command_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

// A run that was killed holds its folder until all that it had started is gone.
constexpr std::chrono::seconds kPatience{10};

// No two ops share one, and no name of an op leads elsewhere.
std::string log_name(OpId op, std::string_view name, int64_t attempt) {
  constexpr size_t kLongest = 80;
  std::string text;
  for (const char c : name.substr(0, kLongest)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    text += plain ? c : '_';
  }
  return fmt::format("{}-{}.{}.log", op.index, text, attempt);
}

std::filesystem::path seen_from(const std::string& directory, const std::string& file) {
  return std::filesystem::path(directory) / file;
}

Result<void> require_inputs(const Command& command) {
  for (const std::string& file : command.input_files) {
    std::error_code error;
    if (std::filesystem::exists(seen_from(command.directory, file), error)) continue;
    return failed(fmt::format("its input file '{}' is not there", file));
  }
  return {};
}

const char* kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// Opens what should be a regular file, whatever it is, without waiting: opening a pipe would block
// until another process writes to it, and a device may do anything. A symbolic link could lead to
// either.
Result<int> open_regular(const std::filesystem::path& path, const std::string& what) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    return failed(fmt::format(
        "{} {}", what, errno == ENOENT || errno == ENOTDIR ? "is not there" : "cannot be opened"));
  }
  const auto wrong = [&] {
    return failed(fmt::format("{} is {}; it must be a regular file", what, kind_of(info.st_mode)));
  };
  if (!S_ISREG(info.st_mode)) return wrong();
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return failed(fmt::format("{} cannot be opened: {}", what, std::strerror(errno)));
  // It may have been replaced since.
  if (::fstat(file, &info) == 0 && S_ISREG(info.st_mode)) return file;
  ::close(file);
  return wrong();
}

// What an op made is on disk before it is recorded as done.
Result<void> require_outputs(const Command& command) {
  for (const std::string& file : command.output_files) {
    const Result<int> output =
        open_regular(seen_from(command.directory, file),
                     fmt::format("ended with exit code 0, but its output file '{}'", file));
    if (!output) return output.error();
    const bool good = ::fsync(*output) == 0 || errno == EINVAL || errno == EROFS;
    ::close(*output);
    if (!good) return failed(fmt::format("its output file '{}' cannot be kept", file));
  }
  return {};
}

// Commands can write here too.
Result<void> require_regular(const std::string& path) {
  const Result<int> file = open_regular(path, path);
  if (!file) return invalid_input(file.error().message);
  ::close(*file);
  return {};
}

}  // namespace

Result<RunFolder> RunFolder::open(const std::string& path) {
  if (const Result<void> made = make_private_folder(path); !made) return made.error();
  Result<FolderLock> lock = FolderLock::take(path, kPatience);
  if (!lock) return lock.error();
  RunFolder folder(path, std::move(*lock));
  if (!make_private_folder(path + "/logs")) {
    return invalid_input(fmt::format("{} cannot be written to", path));
  }
  struct stat info {};
  if (::lstat(folder.journal_file().c_str(), &info) != 0) return folder;
  if (const auto good = require_regular(folder.journal_file()); !good) return good.error();
  Result<Source> source = Source::open(folder.journal_file());
  if (!source) return source.error();
  Result<JournalText> text = read_journal(*source);
  if (!text) return text.error();
  folder.journal_ = std::move(*text);
  return folder;
}

Result<void> RunFolder::require(const JournalHead& head) const {
  if (!journal_) return {};
  const char* other = nullptr;
  if (journal_->head.graph != head.graph) other = "another graph";
  if (journal_->head.commands != head.commands) other = "other commands";
  if (journal_->head.machine != head.machine) other = "another machine";
  if (journal_->head.plan != head.plan) other = "another plan";
  if (other == nullptr) return {};
  return invalid_input(
      fmt::format("{}: the run there was begun with {}; go on with that, or name another folder",
                  path_, other));
}

uint64_t fingerprint_of(const Plan& plan) {
  Fingerprint print;
  for (const DeviceId device : plan.placement) print.add(device.index);
  for (const int64_t priority : plan.priority) print.add(priority);
  for (const std::vector<OpId>& order : plan.strict_order) {
    print.add(static_cast<uint64_t>(order.size()));
    for (const OpId op : order) print.add(op.index);
  }
  const uint64_t value = print.value();
  return value == 0 ? 1 : value;  // 0 is no plan
}

CommandRun::CommandRun(const Graph& graph, const RunFolder& folder, CommandOptions options,
                       CommandJournal journal)
    : graph_(graph),
      folder_(folder),
      options_(std::move(options)),
      journal_(std::move(journal)),
      environment_(environment_by(options_.environment)),
      done_before_(static_cast<size_t>(graph.size()), 0),
      attempts_(static_cast<size_t>(graph.size()), 0) {
  for (const OpId op : graph.ops()) op_of_.emplace(graph.op_name(op), op);
  before_.ops = graph.size();
}

Result<std::unique_ptr<CommandRun>> CommandRun::open(const Graph& graph, const RunFolder& folder,
                                                     const JournalHead& head,
                                                     CommandOptions options) {
  for (const OpId op : graph.ops()) {
    if (graph.command(op) != nullptr) continue;
    return invalid_input(
        fmt::format("op '{}' has no command; give it one, or leave it out", graph.op_name(op)));
  }
  const std::optional<JournalText>& text = folder.journal();
  if (const Result<void> same = folder.require(head); !same) return same.error();
  Result<CommandJournal> journal = text ? CommandJournal::go_on(folder.journal_file(), *text)
                                        : CommandJournal::begin(folder.journal_file(), head);
  if (!journal) return journal.error();
  std::unique_ptr<CommandRun> run(
      new CommandRun(graph, folder, std::move(options), std::move(*journal)));
  if (text) run->take_over(*text);
  return run;
}

void CommandRun::take_over(const JournalText& text) {
  std::vector<uint8_t> in_flight(done_before_.size(), 0);
  for (const JournalEntry& entry : text.entries) {
    const auto found = op_of_.find(entry.op);
    if (found == op_of_.end()) continue;  // the head is of this graph: the file was edited
    const auto op = static_cast<size_t>(found->second.index);
    attempts_[op] = std::max(attempts_[op], entry.attempt);
    in_flight[op] = entry.ended ? 0 : 1;
    if (entry.ended && entry.good) done_before_[op] = 1;
  }
  for (size_t op = 0; op < done_before_.size(); ++op) {
    before_.done_before += done_before_[op];
    before_.in_flight += in_flight[op] != 0 && done_before_[op] == 0;
  }
}

OpTable CommandRun::table(const std::vector<std::string>& device_kinds) {
  OpTable table;
  for (const std::string& kind : graph_.op_kinds()) {
    for (const std::string& device : device_kinds) {
      table.add(kind, device, [this](const OpCall& call) { return run(call); });
    }
  }
  return table;
}

CommandRun::Counts CommandRun::counts() const {
  Counts counts = before_;
  counts.done = done_.load();
  counts.retries = retries_.load();
  return counts;
}

Process CommandRun::process_for(OpId op, const OpCall& call, int64_t attempt) const {
  const Command& command = *graph_.command(op);
  Process process{.argv = command.argv, .environment = environment_};
  const auto set = [&](std::string_view name, std::string_view text) {
    std::erase_if(process.environment, [&](const std::string& variable) {
      return variable.size() > name.size() && variable.starts_with(name) &&
             variable[name.size()] == '=';
    });
    process.environment.push_back(fmt::format("{}={}", name, text));
  };
  set("TUTTI_OP", call.op);
  set("TUTTI_DEVICE", call.device);
  for (const auto& [name, text] : command.environment) set(name, text);
  process.directory = command.directory;
  process.output =
      fmt::format("{}/logs/{}", folder_.path(), log_name(op, graph_.op_name(op), attempt));
  process.most_output_bytes = options_.most_output_bytes;
  const auto or_default = [](auto own, auto general) {
    return own != decltype(own){} ? own : general;
  };
  process.timeout = or_default(command.timeout, options_.timeout);
  process.cpu_time = or_default(command.cpu_time, options_.cpu_time);
  process.memory_bytes = or_default(command.memory_bytes, options_.memory_bytes);
  process.held_file = folder_.lock_file();
  return process;
}

Result<void> CommandRun::attempt(OpId op, const OpCall& call, bool& stopped) {
  const int64_t number = ++attempts_[static_cast<size_t>(op.index)];
  JournalEntry entry{.op = std::string(call.op), .attempt = number};
  if (const Result<void> added = journal_.add(entry); !added) return added;
  const Process process = process_for(op, call, number);
  const Result<ProcessEnd> end = run_process(process, options_.stop);
  Result<void> verdict;
  if (!end) {
    verdict = end.error();
  } else if (!end->good()) {
    std::string sentence = to_text(*end, process);
    if (!end->last_line.empty()) sentence += fmt::format(", after '{}'", end->last_line);
    verdict = failed(fmt::format("{}; what it printed is in {}", sentence, process.output));
    stopped = end->how == ProcessEnd::How::stopped;
  } else {
    verdict = require_outputs(*graph_.command(op));
  }
  // A stopped attempt has no end: it counts as if it had been killed with us.
  if (stopped) return verdict;
  entry.ended = true;
  entry.good = verdict.has_value();
  entry.how = verdict ? to_text(*end, process) : verdict.error().message;
  if (end) {
    entry.run_time = end->lasted;
    entry.cpu_time = end->cpu_time;
    entry.peak_memory_bytes = end->peak_memory_bytes;
  }
  if (const Result<void> added = journal_.add(entry); !added) return added;
  return verdict;
}

Result<void> CommandRun::run(const OpCall& call) {
  const OpId op = op_of_.at(call.op);
  if (done_before_[static_cast<size_t>(op.index)] != 0) return {};
  if (const Result<void> there = require_inputs(*graph_.command(op)); !there) return there;
  for (int retry = 0;; ++retry) {
    bool stopped = false;
    const Result<void> done = attempt(op, call, stopped);
    if (done) {
      done_.fetch_add(1);
      return {};
    }
    if (stopped) return done;
    if (retry == options_.retries) {
      if (retry == 0) return done;
      return failed(fmt::format("{} (the last of {} attempts)", done.error().message, retry + 1));
    }
    retries_.fetch_add(1);
  }
}

}  // namespace tutti
