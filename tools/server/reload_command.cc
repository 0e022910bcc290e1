// tutti reload: have a server read its files again, or change its machine or policy.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/server/server_options.h"

namespace tutti {
namespace {

struct ReloadArguments {
  std::string policy;
  std::string machine;
  std::string costs;
  ServerOptions server;
};

int run_reload(const ReloadArguments& arguments) {
  Result<HttpClient> client = arguments.server.connect();
  if (!client) return report(client.error());
  std::string target = "/v1/reload";
  for (const auto& [name, value] : {std::pair{"policy", &arguments.policy},
                                    {"machine", &arguments.machine},
                                    {"costs", &arguments.costs}}) {
    if (value->empty()) continue;
    target += fmt::format("{}{}={}", target.find('?') == std::string::npos ? '?' : '&', name,
                          percent_encoded(*value));
  }
  const Result<Answer> answer = ask(*client, "POST", target);
  if (!answer) return report(answer.error());
  const Document& done = answer->document;
  const Document* const waits = done.find("reloading");
  if (arguments.server.json) {
    fmt::print("{}", answer->body);
  } else if (waits != nullptr && waits->boolean) {
    fmt::print("accepted: it takes effect when the {} running jobs have ended\n",
               entry_text(done, "running"));
  } else {
    fmt::print("reloaded: {} places on {}, decided by {}\n", entry_text(done, "places"),
               entry_text(done, "machine"), entry_text(done, "policy"));
  }
  return 0;
}

}  // namespace

void add_reload_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("reload", "Have tutti serve read its files again, or change its policy");
  command->footer(
      "Example: tutti reload\n"
      "         tutti reload --policy graphene\n"
      "No job is lost: those that run end first, those that are queued start afterwards.");
  auto arguments = std::make_shared<ReloadArguments>();
  command->add_option("--policy", arguments->policy, "New policy; default: keep the current one");
  command->add_option(
      "-m,--machine", arguments->machine,
      "New machine, a name or a path on the server; default: the current one, read again");
  command->add_option("--costs", arguments->costs,
                      "New costs file, a path on the server; default: the current one, read again");
  arguments->server.add_to(*command);
  accept_seed(*command);
  command->callback([arguments, &exit_code] { exit_code = run_reload(*arguments); });
}

}  // namespace tutti
