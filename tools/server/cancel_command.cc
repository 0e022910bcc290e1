// tutti cancel: take a job back.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/server/server_options.h"

namespace tutti {
namespace {

struct CancelArguments {
  std::string job;
  ServerOptions server;
};

int run_cancel(const CancelArguments& arguments) {
  Result<HttpClient> client = arguments.server.connect();
  if (!client) return report(client.error());
  const Result<Answer> answer =
      ask(*client, "DELETE", "/v1/jobs/" + percent_encoded(arguments.job));
  if (!answer) return report(answer.error());
  const Document& job = answer->document;
  if (arguments.server.json) {
    fmt::print("{}", answer->body);
  } else if (entry_text(job, "state") == "running") {
    fmt::print("{}: asked to stop; it is running\n", entry_text(job, "id"));
  } else {
    fmt::print("{}\n", job_line(job));
  }
  return 0;
}

}  // namespace

void add_cancel_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("cancel", "Take a job back from tutti serve");
  command->footer("Example: tutti cancel night-1");
  auto arguments = std::make_shared<CancelArguments>();
  command->add_option("job", arguments->job, "Id of the job")->required();
  arguments->server.add_to(*command);
  accept_seed(*command);
  command->callback([arguments, &exit_code] { exit_code = run_cancel(*arguments); });
}

}  // namespace tutti
