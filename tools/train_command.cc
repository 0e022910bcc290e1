// tutti train: starts tutti-train, a companion program that needs libtorch.

#include <fmt/format.h>

#include <algorithm>

#include "tools/commands.h"
#include "tools/companion.h"
#include "tools/inputs.h"

namespace tutti {
namespace {

constexpr const char* kProgram = "tutti-train";
constexpr const char* kNeeds = "libtorch (Debian: libtorch-dev libopenblas-dev)";

// In a build without tutti-train, which has the full help of each method.
constexpr const char* kHelpWithoutIt =
    R"(Learn to place and order ops (doppler), or to schedule jobs that arrive (symphony).
Usage: tutti train METHOD [OPTIONS] -o FOLDER

Methods:
  doppler                     Place and order ops: graphs that are given, or problems drawn
  symphony                    Which op runs next and where while jobs arrive, in simulation
  list                        The configurations of both, by name (--config)

Options of both, among others:
  -o,--out FOLDER             Checkpoint, model and log; the same command goes on from there
  --from MODEL                A model to begin with
  --budget TIME               Wall clock of this call, such as 10m
  --episodes N                How long the last stage is
  --seed N, --threads N       As everywhere

Example: tutti train doppler graph.json -m p100-4 --budget 10m -o run

)";

bool asks_for_help(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--help" || word == "-h" || word == "help";
  });
}

}  // namespace

void add_train_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "train", "Learn to place and order ops, or to schedule jobs that arrive (tutti-train)");
  command->prefix_command();
  command->set_help_flag();  // tutti-train has its own
  command->callback([command, &exit_code] {
    const std::vector<std::string> words = command->remaining();
    if (asks_for_help(words) && !has_companion(kProgram)) {
      fmt::print("{}This build has no {}: it needs {}.\n", kHelpWithoutIt, kProgram, kNeeds);
      return;
    }
    exit_code = report(become(kProgram, "tutti train", words, kNeeds));
  });
}

}  // namespace tutti
