// Runs the commands of a graph: gives the local engine code that starts an op's program, keeps what
// each printed, tries again what failed, and keeps a journal, by which a run that was stopped or
// killed is completed.
//
// All of a run is in one folder: the journal, the plan, and logs/, a file for each attempt. What is
// recorded as done is not run again. What was begun and is not recorded is run again from its
// start, whatever it had done: a command must stand that.
//
// Commands come from files, and files from anywhere. Nothing but a CommandRun starts any, and
// its caller has asked the user (tutti run --allow-commands).

#ifndef TUTTI_RUNTIME_COMMAND_COMMAND_RUN_H_
#define TUTTI_RUNTIME_COMMAND_COMMAND_RUN_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tutti/base/file/folder_lock.h"
#include "tutti/base/stop.h"
#include "tutti/graph/graph.h"
#include "tutti/plan/plan.h"
#include "tutti/runtime/command/environment.h"
#include "tutti/runtime/command/journal.h"
#include "tutti/runtime/command/process.h"
#include "tutti/runtime/local/op_table.h"

namespace tutti {

struct CommandOptions {
  int retries = 0;  // of an op that fails, in one run
  int64_t most_output_bytes = int64_t{1} << 20;
  // Limits of commands that have none of their own; 0: none.
  Duration timeout{0};
  Duration cpu_time{0};
  int64_t memory_bytes = 0;
  EnvironmentRule environment{};
  Stop stop{};  // ends the programs that run
};

// The folder of a run, held for as long as this lives.
class RunFolder {
 public:
  // Makes the folder if there is none, accessible to its owner only. Fails (invalid_input) if
  // another run is at work in it.
  static Result<RunFolder> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string plan_file() const { return path_ + "/plan.json"; }
  std::string journal_file() const { return path_ + "/journal.jsonl"; }
  int lock_file() const { return lock_.file(); }
  // Of the run that was begun here; none: there was none.
  const std::optional<JournalText>& journal() const { return journal_; }
  // Fails (invalid_input) if that was of another graph, machine or plan.
  Result<void> require(const JournalHead& head) const;

 private:
  RunFolder(std::string path, FolderLock lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  FolderLock lock_;
  std::optional<JournalText> journal_;
};

// Of placement and order; what a plan expects is left out.
uint64_t fingerprint_of(const Plan& plan);

class CommandRun {
 public:
  struct Counts {
    int32_t ops = 0;
    int32_t done_before = 0;  // by earlier runs
    int32_t in_flight = 0;    // begun by earlier runs, and not ended
    int32_t done = 0;         // by this one
    int32_t retries = 0;
  };

  // Begins a run in the folder, or goes on with the one there. Fails (invalid_input) as
  // RunFolder::require does, or if some op has no command. Keeps references to the graph and the
  // folder.
  static Result<std::unique_ptr<CommandRun>> open(const Graph& graph, const RunFolder& folder,
                                                  const JournalHead& head, CommandOptions options);

  // Code for all ops on devices of these kinds. It must not outlive this.
  OpTable table(const std::vector<std::string>& device_kinds);

  Counts counts() const;

 private:
  CommandRun(const Graph& graph, const RunFolder& folder, CommandOptions options,
             CommandJournal journal);

  void take_over(const JournalText& text);
  Result<void> run(const OpCall& call);
  Process process_for(OpId op, const OpCall& call, int64_t attempt) const;
  // One attempt; how it failed, if it did.
  Result<void> attempt(OpId op, const OpCall& call, bool& stopped);

  const Graph& graph_;
  const RunFolder& folder_;
  CommandOptions options_;
  CommandJournal journal_;
  std::vector<std::string> environment_;
  std::unordered_map<std::string_view, OpId> op_of_;
  std::vector<uint8_t> done_before_;  // by op
  std::vector<int64_t> attempts_;     // by op; each is one thread's at a time
  Counts before_;
  std::atomic<int32_t> done_{0};
  std::atomic<int32_t> retries_{0};
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_COMMAND_COMMAND_RUN_H_
