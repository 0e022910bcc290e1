// tutti completion: a script that lets a shell complete the command line.

#include <fmt/format.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/policy_list.h"
#include "tools/print/completion_scripts.h"
#include "tutti/machine/preset.h"
#include "tutti/search/deciders.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

// What flags of more than one command take.
struct KnownValues {
  std::vector<std::string> policies;
  std::vector<std::string> deciders;
  std::vector<std::string> of_serve;
  std::vector<std::string> machines = {"this-host"};

  KnownValues() {
    for (const PolicyEntry& entry : all_planners({})) policies.push_back(entry.name);
    for (const PolicyEntry& entry : all_deciders()) deciders.push_back(entry.name);
    of_serve = names_for_real_service();
    for (const Preset& preset : machine_presets()) machines.push_back(preset.name);
  }

  std::vector<std::string> of(const std::string& path, const std::string& flag) const {
    if (flag == "--machine") return machines;
    if (flag != "--policy" && flag != "--policies") return {};
    return path == "cluster" ? deciders : path == "serve" ? of_serve : policies;
  }
};

// {"fifo", "lifo"} of "TEXT:{fifo,lifo}", as which the parser names what it accepts.
std::vector<std::string> accepted_by(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.find('}', open);
  if (close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

void add_option(const CLI::Option& option, const KnownValues& known, CompletedCommand& command) {
  CompletedWord word;
  word.what = option.get_description();
  word.takes_value = option.get_items_expected_max() > 0;
  word.values = accepted_by(option);
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  for (const std::string& name : word.names) {
    if (word.values.empty()) word.values = known.of(command.path, name);
  }
  if (!word.names.empty()) {
    command.flags.push_back(std::move(word));
  } else if (command.values.empty()) {
    command.values = std::move(word.values);
  }
}

void add_command(const CLI::App& app, const std::string& path, const KnownValues& known,
                 std::vector<CompletedCommand>& commands) {
  CompletedCommand command{.path = path, .below = {}, .flags = {}, .values = {}};
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : below) {
    CompletedWord word;
    word.names = {sub->get_name()};
    word.what = sub->get_description();
    command.below.push_back(std::move(word));
  }
  for (const CLI::Option* option : app.get_options()) add_option(*option, known, command);
  commands.push_back(std::move(command));
  for (const CLI::App* sub : below) {
    add_command(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), known,
                commands);
  }
}

std::string script_for(const std::string& shell, const CLI::App& app) {
  std::vector<CompletedCommand> commands;
  add_command(app, "", KnownValues(), commands);
  if (shell == "zsh") return zsh_completion(commands);
  if (shell == "fish") return fish_completion(commands);
  return bash_completion(commands);
}

}  // namespace

void add_completion_command(CLI::App& app, int& /*exit_code*/) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes the command line");
  command->footer("Example: source <(tutti completion bash)");
  auto shell = std::make_shared<std::string>();
  accept_seed(*command);
  command->add_option("shell", *shell, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback(
      [&app, shell = std::move(shell)] { fmt::print("{}", script_for(*shell, app)); });
}

}  // namespace tutti
