// tutti drain: have a server finish what it has and take nothing new.

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/server/server_options.h"

namespace tutti {
namespace {

struct DrainArguments {
  bool wait = false;
  ServerOptions server;
};

// How many jobs are open, by the answer to a drain.
Result<int64_t> ask_once(HttpClient& client, std::string& body) {
  const Result<Answer> answer = ask(client, "POST", "/v1/drain");
  if (!answer) return answer.error();
  body = answer->body;
  const Document* const open = answer->document.find("open");
  if (open == nullptr) return failed("the server's answer does not say how many jobs are open");
  return open->integer;
}

int run_drain(const DrainArguments& arguments) {
  Result<HttpClient> client = arguments.server.connect();
  if (!client) return report(client.error());
  std::string body;
  Result<int64_t> open = ask_once(*client, body);
  while (open && *open > 0 && arguments.wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    open = ask_once(*client, body);
  }
  if (!open) return report(open.error());
  if (arguments.server.json) {
    fmt::print("{}", body);
  } else if (*open == 0) {
    fmt::print("drained: no job is open\n");
  } else {
    fmt::print("draining: {} job{} open\n", *open, *open == 1 ? " is" : "s are");
  }
  return 0;
}

}  // namespace

void add_drain_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("drain", "Have tutti serve finish its jobs and take no new ones");
  command->footer("Example: tutti drain --wait");
  auto arguments = std::make_shared<DrainArguments>();
  command->add_flag("--wait", arguments->wait, "Return when no job is open any more");
  arguments->server.add_to(*command);
  accept_seed(*command);
  command->callback([arguments, &exit_code] { exit_code = run_drain(*arguments); });
}

}  // namespace tutti
