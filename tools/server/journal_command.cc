// tutti journal: look at the journal of a server that is not running, and recover a damaged one.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/serve/repair.h"

namespace tutti {
namespace {

struct JournalArguments {
  std::string folder;
  bool json = false;
};

void print_as_json(const JournalReport& report) {
  JsonWriter json;
  write_report(report, json);
  fmt::print("{}", json.text());
}

void print_lost(const JournalReport& report) {
  for (const LostRecords& lost : report.lost) {
    if (lost.last == kUnknownLast) {
      fmt::print("lost: whatever there was from record {} on; nothing is left that says how many\n",
                 lost.first);
      continue;
    }
    fmt::print("lost: record {}{}, bytes {} to {}{}\n", lost.first,
               lost.last > lost.first ? fmt::format(" to {}", lost.last) : "", lost.from_byte,
               lost.to_byte,
               lost.looks_like.empty() ? "" : "; by what is left of it, " + lost.looks_like);
  }
  for (const UnusableRecord& one : report.unusable) {
    fmt::print("unusable: record {}, {}: {}\n", one.sequence, one.what, one.why);
  }
  for (const int64_t sequence : report.corrected) {
    fmt::print("whole again: record {}, with one bit turned over\n", sequence);
  }
  for (const std::string& id : report.doubtful) {
    fmt::print(
        "doubtful: job '{}' is open as far as is known; if it was over, {}\n", id,
        report.doubtful_with_folder.contains(id)
            ? "it is completed from its folder, and what is recorded there does not run again"
            : "it is run again");
  }
}

void print_counts(const JournalReport& report) {
  fmt::print("{}: version {}, {} records ({} promised) in {} bytes; {} open jobs, {} over\n",
             report.path, report.version, report.records, report.promised, report.bytes,
             report.open_jobs, report.over_jobs);
  if (report.tail_bytes > 0) {
    fmt::print("{} bytes behind them are of records that were never acknowledged\n",
               report.tail_bytes);
  }
}

int run_journal_check(const JournalArguments& arguments) {
  const Result<JournalReport> checked = check_journal(arguments.folder);
  if (!checked) return report(checked.error());
  if (arguments.json) {
    print_as_json(*checked);
  } else {
    print_counts(*checked);
    print_lost(*checked);
  }
  if (checked->fault.empty()) return 0;
  return arguments.json ? 2 : report(invalid_input(checked->fault));
}

int run_journal_repair(const JournalArguments& arguments) {
  const Result<JournalReport> repaired = repair_journal(arguments.folder);
  if (!repaired) return report(repaired.error());
  const bool all = repaired->lost.empty() && repaired->unusable.empty();
  if (arguments.json) {
    print_as_json(*repaired);
  } else if (repaired->kept_as.empty()) {
    print_counts(*repaired);
    fmt::print("nothing to repair\n");
  } else {
    fmt::print("{}\n", repaired->fault);
    print_counts(*repaired);
    print_lost(*repaired);
    fmt::print("repaired: {}; the damaged one is kept as {}\n",
               all ? "every record that was promised is there" : "what is lost is named above",
               repaired->kept_as);
  }
  return all ? 0 : 1;
}

}  // namespace

void add_journal_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("journal", "Look at a server's journal, or recover it");
  command->require_subcommand(1);
  command->footer(
      "Example: tutti journal check ~/.local/state/tutti\n"
      "         tutti journal repair jobs");
  const auto add = [&](const char* name, const char* what, const char* footer, auto run) {
    CLI::App* const one = command->add_subcommand(name, what);
    one->footer(footer);
    auto arguments = std::make_shared<JournalArguments>();
    one->add_option("folder", arguments->folder, "Folder of the journal, as tutti serve --state")
        ->required();
    one->add_flag("--json", arguments->json, "Print what was found as JSON");
    accept_seed(*one);
    one->callback([arguments, run, &exit_code] { exit_code = run(*arguments); });
  };
  add("check", "Say whether all that was promised is there; changes nothing",
      "Exit code 0: a server starts on it; 2: it does not.", run_journal_check);
  add("repair", "Recover what is whole of a damaged journal, and keep the old one next to it",
      "Exit code 0: nothing is lost; 1: something is, and is named.", run_journal_repair);
}

}  // namespace tutti
