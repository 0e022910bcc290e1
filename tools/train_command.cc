// tutti train: starts tutti-train, which stands beside this program and needs libtorch.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/commands.h"
#include "tools/inputs.h"

namespace tutti {
namespace {

Result<void> start(const std::vector<std::string>& arguments) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "tutti-train").string();
  if (error || access(program.c_str(), X_OK) != 0) {
    return failed(fmt::format(
        "there is no {}: it is built where libtorch is (Debian: libtorch-dev libopenblas-dev); "
        "install that and build again",
        program));
  }
  std::vector<char*> words;
  std::string name = "tutti train";
  words.push_back(name.data());
  std::vector<std::string> kept = arguments;
  for (std::string& argument : kept) words.push_back(argument.data());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  return failed(fmt::format("{} could not be started: {}", program, std::strerror(errno)));
}

}  // namespace

void add_train_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("train", "Learn to place and order ops (tutti-train)");
  command->prefix_command();
  command->set_help_flag();  // tutti-train has its own
  command->callback([command, &exit_code] {
    std::fflush(stdout);
    const Result<void> started = start(command->remaining());
    exit_code = report(started.error());  // it returns only if it failed
  });
}

}  // namespace tutti
