// tutti completion: a script that lets a shell complete the command line. Commands and flags are
// those the parser has, so the script cannot fall behind.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "tools/commands.h"
#include "tools/inputs.h"
#include "tools/policy_list.h"
#include "tutti/machine/preset.h"
#include "tutti/search/deciders.h"
#include "tutti/search/planners.h"

namespace tutti {
namespace {

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

// What the script holds for a command and each below it; `path` is "graph make".
void add_command(const CLI::App& command, const std::string& path, std::vector<std::string>& paths,
                 std::string& cases) {
  paths.push_back(path);
  std::vector<std::string> words;
  const auto below = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : below) words.push_back(sub->get_name());
  for (const std::string& flag : flags_of(command)) words.push_back(flag);
  cases += fmt::format("    '{}') words='{}' ;;\n", path, fmt::join(words, " "));
  for (const CLI::App* sub : below) {
    add_command(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name(), paths, cases);
  }
}

std::string bash_script(const CLI::App& app) {
  std::string cases;
  std::vector<std::string> paths;
  add_command(app, "", paths, cases);
  std::vector<std::string> policies;
  for (const PolicyEntry& entry : all_planners({})) policies.push_back(entry.name);
  std::vector<std::string> deciders;
  for (const PolicyEntry& entry : all_deciders()) deciders.push_back(entry.name);
  std::vector<std::string> machines = {"this-host"};
  for (const Preset& preset : machine_presets()) machines.push_back(preset.name);
  return fmt::format(R"(# Completion of tutti for bash: source <(tutti completion bash)
_tutti() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} path='' words='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${{path:+$path }}${{COMP_WORDS[i]}}" in
      '{}') path=${{path:+$path }}${{COMP_WORDS[i]}} ;;
    esac
  done
  case $path in
{}  esac
  case "$path $previous" in
    'cluster -p'|'cluster --policy') words='{}' ;;
    'serve --policy') words='{}' ;;
    *' --policy'|*' --policies') words='{}' ;;
  esac
  case $previous in
    -m|--machine) words='{}' ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}}
complete -o filenames -F _tutti tutti
)",
                     fmt::join(paths, "'|'"), cases, fmt::join(deciders, " "),
                     fmt::join(names_for_real_service(), " "), fmt::join(policies, " "),
                     fmt::join(machines, " "));
}

}  // namespace

void add_completion_command(CLI::App& app, int& /*exit_code*/) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes the command line");
  command->footer("Example: source <(tutti completion bash)");
  auto shell = std::make_shared<std::string>();
  accept_seed(*command);
  command->add_option("shell", *shell, "The shell: bash")
      ->required()
      ->check(CLI::IsMember({"bash"}));
  command->callback([&app, shell = std::move(shell)] { fmt::print("{}", bash_script(app)); });
}

}  // namespace tutti
