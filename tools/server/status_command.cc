// tutti status: what has become of a job, or how a server does.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/print/table.h"
#include "tools/server/server_options.h"

namespace tutti {
namespace {

struct StatusArguments {
  std::string job;
  bool wait = false;
  ServerOptions server;
};

std::string percent(const Document& object, std::string_view key) {
  const Document* const share = object.find(key);
  return share == nullptr ? "-" : fmt::format("{:.0f} %", 100 * share->number);
}

void print_overview(const Document& overview) {
  const auto yes = [&](std::string_view key) {
    const Document* const entry = overview.find(key);
    return entry != nullptr && entry->boolean;
  };
  fmt::print("{} runs on {}, decided by {}{}{}\n",
             entry_text(overview, "runtime") == "local" ? "real" : "simulated",
             entry_text(overview, "machine"), entry_text(overview, "policy"),
             yes("draining") ? ", draining" : "", yes("stopping") ? ", stopping" : "");
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
  for (const char* key : {"running", "queue"}) {
    const Document* const listed = overview.find(key);
    if (listed == nullptr) continue;
    for (const Document& job : listed->items) fmt::print("{}\n", job_line(job));
  }
}

int run_status(const StatusArguments& arguments) {
  if (arguments.wait && arguments.job.empty()) {
    return report(invalid_input("--wait needs a job to wait for"));
  }
  Result<HttpClient> client = arguments.server.connect();
  if (!client) return report(client.error());
  const Result<Answer> answer =
      arguments.wait ? wait_for_job(*client, arguments.job)
                     : ask(*client, "GET",
                           arguments.job.empty() ? "/v1/overview"
                                                 : "/v1/jobs/" + percent_encoded(arguments.job));
  if (!answer) return report(answer.error());
  if (arguments.server.json) {
    fmt::print("{}", answer->body);
  } else if (arguments.job.empty()) {
    print_overview(answer->document);
  } else {
    fmt::print("{}\n", job_line(answer->document));
  }
  return arguments.wait ? exit_code_of(answer->document) : 0;
}

}  // namespace

void add_status_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("status", "Ask tutti serve about a job, or about all there is");
  command->footer(
      "Example: tutti status\n"
      "         tutti status night-1 --wait");
  auto arguments = std::make_shared<StatusArguments>();
  command->add_option("job", arguments->job, "Id of a job; default: the server itself");
  command->add_flag("--wait", arguments->wait,
                    "Return when the job is over; exit code 1 if it failed");
  arguments->server.add_to(*command);
  accept_seed(*command);
  command->callback([arguments, &exit_code] { exit_code = run_status(*arguments); });
}

}  // namespace tutti
