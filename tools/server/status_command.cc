// tutti status: what has become of a job, or how a server does.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/print/table.h"
#include "tools/server/server_options.h"
#include "tutti/base/file/output.h"

namespace tutti {
namespace {

struct StatusArguments {
  std::string job;
  bool wait = false;
  std::string trace;  // where to save it
  ServerOptions server;
};

std::string percent(const Document& object, std::string_view key) {
  const Document* const share = object.find(key);
  return share == nullptr ? "-" : fmt::format("{:.0f} %", 100 * share->number);
}

double real_of(const Document& object, std::string_view key) {
  const Document* const entry = object.find(key);
  return entry == nullptr ? 0 : entry->number;
}

// Why a client is where it is.
std::string quota_text(const Document& client) {
  if (client.find("quota_s") == nullptr) return "-";
  std::string text = fmt::format("{:.1f} of {:.1f} s in {:.0f} s", real_of(client, "quota_used_s"),
                                 real_of(client, "quota_s"), real_of(client, "per_s"));
  const double wait = real_of(client, "quota_free_in_s");
  return wait > 0 ? text + fmt::format("; waits {:.1f} s", wait) : text;
}

void print_clients(const Document& overview) {
  const Document* const clients = overview.find("clients");
  if (clients == nullptr || clients->items.size() < 2) return;
  Table table({"client", "open jobs", "weight", "share of device time", "entitled to",
               "device time", "quota"});
  for (const Document& one : clients->items) {
    const std::string name = entry_text(one, "client");
    table.add({name.empty() ? "(none)" : name, entry_text(one, "open"),
               fmt::format("{:g}", real_of(one, "weight")), percent(one, "share"),
               percent(one, "entitled"), fmt::format("{:.1f} s", real_of(one, "device_s")),
               quota_text(one)});
  }
  fmt::print("{}", table.text());
}

void print_overview(const Document& overview) {
  const auto yes = [&](std::string_view key) {
    const Document* const entry = overview.find(key);
    return entry != nullptr && entry->boolean;
  };
  fmt::print("{} runs on {}, decided by {}{}{}\n",
             entry_text(overview, "runtime") == "local" ? "real" : "simulated",
             entry_text(overview, "machine"), entry_text(overview, "policy"),
             yes("reloading")  ? ", reloading when the running jobs have ended"
             : yes("draining") ? ", draining"
                               : "",
             yes("stopping") ? ", stopping" : "");
  const std::string broken = entry_text(overview, "broken");
  if (!broken.empty()) fmt::print("the journal has failed: {}\n", broken);
  if (const Document* const jobs = overview.find("jobs")) {
    fmt::print(
        "jobs: {} queued, {} running; since the server started {} done, {} failed, {} cancelled\n",
        entry_text(*jobs, "queued"), entry_text(*jobs, "running"), entry_text(*jobs, "done_total"),
        entry_text(*jobs, "failed_total"), entry_text(*jobs, "cancelled_total"));
  }
  const Document* const shares = overview.find("utilisation");
  if (shares != nullptr && !shares->items.empty()) {
    Table table({"resource", "busy", "95 of 100 from", "to"});
    for (const Document& one : shares->items) {
      table.add({entry_text(one, "resource"), percent(one, "mean"), percent(one, "low"),
                 percent(one, "high")});
    }
    fmt::print("{}", table.text());
  }
  print_clients(overview);
  for (const char* key : {"running", "queue"}) {
    const Document* const listed = overview.find(key);
    if (listed == nullptr) continue;
    for (const Document& job : listed->items) fmt::print("{}\n", job_line(job));
  }
}

Duration time_of(const Document& object, std::string_view key) {
  const Document* const entry = object.find(key);
  return entry == nullptr ? Duration(0) : nanoseconds_of(entry->number);
}

Duration waited(const Document& op) {
  return time_of(op, "device_ns") + time_of(op, "operands_ns") + time_of(op, "memory_ns") +
         time_of(op, "deciding_ns");
}

// A row of characters for each slot: how full each sixtieth of the run was.
void print_timeline(const Document& history) {
  const Document* const lanes = history.find("lanes");
  if (lanes == nullptr || lanes->items.empty()) return;
  fmt::print("timeline, 0 to {}:\n", to_text(time_of(history, "run_ns")));
  size_t width = 0;
  std::vector<std::string> names;
  for (const Document& lane : lanes->items) {
    names.push_back(entry_text(lane, "device") + " " + entry_text(lane, "slot"));
    width = std::max(width, names.back().size());
  }
  for (size_t i = 0; i < names.size(); ++i) {
    std::string row;
    const Document* const busy = lanes->items[i].find("busy");
    for (size_t at = 0; busy != nullptr && at < busy->items.size(); ++at) {
      const double share = busy->items[at].number;
      row += share <= 0 ? ' ' : share < 1.0 / 3 ? '.' : share < 2.0 / 3 ? '=' : '#';
    }
    fmt::print("  {:<{}} |{}|\n", names[i], width, row);
  }
}

void print_waits(const Document& history) {
  const Document* const waits = history.find("waits");
  if (waits == nullptr) return;
  const auto text = [&](std::string_view key) { return to_text(time_of(*waits, key)); };
  fmt::print(
      "ops together: {} running; waiting {} for a device, {} for operands, {} for memory, {} for a "
      "decision\n",
      text("running_ns"), text("device_ns"), text("operands_ns"), text("memory_ns"),
      text("deciding_ns"));
  const Document* const ops = history.find("ops");
  if (ops == nullptr) return;
  std::vector<const Document*> longest;
  for (const Document& op : ops->items) {
    if (waited(op) > Duration(0)) longest.push_back(&op);
  }
  std::stable_sort(longest.begin(), longest.end(),
                   [](const Document* a, const Document* b) { return waited(*a) > waited(*b); });
  if (longest.empty()) return;
  constexpr size_t kShown = 5;
  Table table({"waited longest", "on", "for a device", "for operands", "for memory",
               "for a decision", "ran for"});
  for (size_t i = 0; i < std::min(longest.size(), kShown); ++i) {
    const Document& op = *longest[i];
    const auto of = [&](std::string_view key) { return to_text(time_of(op, key)); };
    table.add({entry_text(op, "op"), entry_text(op, "device"), of("device_ns"), of("operands_ns"),
               of("memory_ns"), of("deciding_ns"),
               to_text(time_of(op, "finish_ns") - time_of(op, "start_ns"))});
  }
  fmt::print("{}", table.text());
}

void print_history(const Document& history) {
  if (const Document* const slowdown = history.find("slowdown")) {
    fmt::print(
        "queued {}, ran {}; slow-down {:.2f}, compared with its critical path of {} (every op on "
        "its fastest device)\n",
        to_text(time_of(history, "queue_ns")), to_text(time_of(history, "run_ns")),
        slowdown->number, to_text(time_of(history, "critical_path_ns")));
  }
  print_waits(history);
  print_timeline(history);
}

// A job with all that is kept of it. A job of which nothing is kept is no error.
Result<void> show_job(const StatusArguments& arguments, HttpClient& client, const Answer& job) {
  const std::string address = "/v1/jobs/" + percent_encoded(arguments.job);
  if (!arguments.trace.empty()) {
    const Result<Answer> trace = ask(client, "GET", address + "/trace");
    if (!trace) return trace.error();
    if (Result<void> written = write_file(arguments.trace, trace->body); !written) return written;
    if (arguments.trace == "-") return {};  // nothing else, so that it can be read as JSON
  }
  const Result<Answer> history = ask(client, "GET", address + "/history");
  if (arguments.server.json) {
    std::string all = job.body;
    const size_t end = all.rfind('}');
    if (history && end != std::string::npos)
      all.replace(end, 1, ", \"history\": " + history->body + "}");
    fmt::print("{}", all);
    return {};
  }
  fmt::print("{}\n", job_line(job.document));
  if (history) print_history(history->document);
  if (!arguments.trace.empty()) fmt::print("trace written to {}\n", arguments.trace);
  return {};
}

int run_status(const StatusArguments& arguments) {
  if (arguments.wait && arguments.job.empty()) {
    return report(invalid_input("--wait needs a job to wait for"));
  }
  if (!arguments.trace.empty() && arguments.job.empty()) {
    return report(invalid_input("--trace needs a job, whose trace is saved"));
  }
  Result<HttpClient> client = arguments.server.connect();
  if (!client) return report(client.error());
  const Result<Answer> answer =
      arguments.wait ? wait_for_job(*client, arguments.job)
                     : ask(*client, "GET",
                           arguments.job.empty() ? "/v1/overview"
                                                 : "/v1/jobs/" + percent_encoded(arguments.job));
  if (!answer) return report(answer.error());
  if (!arguments.job.empty()) {
    if (const Result<void> shown = show_job(arguments, *client, *answer); !shown)
      return report(shown.error());
  } else if (arguments.server.json) {
    fmt::print("{}", answer->body);
  } else {
    print_overview(answer->document);
  }
  return arguments.wait ? exit_code_of(answer->document) : 0;
}

}  // namespace

void add_status_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("status", "Ask tutti serve about a job, or about the server");
  command->footer(
      "Example: tutti status\n"
      "         tutti status night-1 --wait\n"
      "         tutti status night-1 --trace trace.json && tutti check graph.json --trace "
      "trace.json");
  auto arguments = std::make_shared<StatusArguments>();
  command->add_option("job", arguments->job, "Id of a job; default: the server itself");
  command->add_flag("--wait", arguments->wait,
                    "Return when the job is over; exit code 1 if it failed");
  command->add_option("--trace", arguments->trace,
                      "Save the trace of the job's run here, a Chrome trace that tutti check and "
                      "tutti report read; - is standard output");
  arguments->server.add_to(*command);
  accept_seed(*command);
  command->callback([arguments, &exit_code] { exit_code = run_status(*arguments); });
}

}  // namespace tutti
