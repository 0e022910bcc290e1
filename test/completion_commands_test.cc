// What tutti completion and tutti version promise: run as a user would, in the shells themselves.

#include <cstdlib>
#include <regex>
#include <string>

#include "test/support/cli.h"

namespace tutti {
namespace {

using CompletionCommand = Cli;
using VersionCommand = Cli;

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

TEST_F(CompletionCommand, KnowsEveryCommandThatHelpLists) {
  const Ran bash = run({"completion", "bash"});
  const Ran zsh = run({"completion", "zsh"});
  const Ran fish = run({"completion", "fish"});
  ASSERT_EQ(bash.exit_code + zsh.exit_code + fish.exit_code, 0) << bash.err << zsh.err << fish.err;
  const Ran help = run({"--help"});
  const std::string list = help.out.substr(help.out.find("Plan and compare:"));
  const std::regex row(R"(\n  ([a-z-]+)  )");
  int count = 0;
  for (auto it = std::sregex_iterator(list.begin(), list.end(), row); it != std::sregex_iterator();
       ++it) {
    const std::string name = (*it)[1];
    ++count;
    EXPECT_NE(bash.out.find("    '" + name + "') words='"), std::string::npos) << name;
    EXPECT_NE(zsh.out.find("    '" + name + "')\n      below=("), std::string::npos) << name;
    EXPECT_NE(fish.out.find("-n '__tutti_at \"\"' -a " + name + " -d "), std::string::npos) << name;
  }
  EXPECT_GT(count, 12) << help.out;
}

TEST_F(CompletionCommand, CompletesInBash) {
  const std::string script = write("complete.bash", run({"completion", "bash"}).out + R"(
COMP_WORDS=(tutti graph mak); COMP_CWORD=2; _tutti
[ "${COMPREPLY[*]}" = make ] || exit 3
COMP_WORDS=(tutti plan g --polic); COMP_CWORD=3; _tutti
[ "${COMPREPLY[*]}" = --policy ] || exit 4
COMP_WORDS=(tutti plan g --machine p100); COMP_CWORD=4; _tutti
[ "${COMPREPLY[*]}" = p100-4 ] || exit 5
COMP_WORDS=(tutti simulate g --order fi); COMP_CWORD=4; _tutti
[ "${COMPREPLY[*]}" = fifo ] || exit 6
COMP_WORDS=(tutti completion z); COMP_CWORD=2; _tutti
[ "${COMPREPLY[*]}" = zsh ] || exit 7
)");
  EXPECT_EQ(std::system(("cd / && bash '" + script + "'").c_str()), 0);
}

// The functions of zsh's completion print what they are given.
TEST_F(CompletionCommand, CompletesInZsh) {
  if (!has_program("zsh")) GTEST_SKIP() << "zsh is not installed";
  const std::string script = write("complete.zsh", R"(
compdef() { : }
_files() { : }
_describe() { local list=$@[-1]; print -l -- ${(P)list} }
compadd() { shift; print -l -- "$@" }
)" + run({"completion", "zsh"}).out + R"(
try() { words=(tutti $@); CURRENT=$#words; PREFIX=$words[-1]; _tutti }
try graph mak | grep -q '^make:Make a graph' || exit 3
try plan g --polic | grep -q '^--policy:' || exit 4
try plan g --machine p100 | grep -qx 'p100-4' || exit 5
try simulate g --order fi | grep -qx 'fifo' || exit 6
try completion z | grep -qx 'zsh' || exit 7
[[ $path[1] == /* ]] || exit 8
)");
  EXPECT_EQ(std::system(("cd / && zsh -f '" + script + "'").c_str()), 0);
}

TEST_F(CompletionCommand, CompletesInFish) {
  if (!has_program("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string script = write("tutti.fish", run({"completion", "fish"}).out);
  const std::string test = write("test.fish", "source " + script + R"(
function has
  complete -C $argv[1] | string match -q -r -- $argv[2]; or exit 3
end
has 'tutti graph mak' '^make\tMake a graph'
has 'tutti plan g --polic' '^--policy\t'
has 'tutti plan g --machine p100' '^p100-4'
has 'tutti simulate g --order fi' '^fifo'
has 'tutti completion z' '^zsh'
)");
  EXPECT_EQ(std::system(("cd / && HOME=" + path("") + " fish --no-config '" + test + "'").c_str()),
            0);
}

TEST_F(VersionCommand, SaysTheSameInBothForms) {
  const Ran flag = run({"--version"});
  const Ran command = run({"version"});
  EXPECT_EQ(flag.exit_code, 0) << flag.err;
  EXPECT_EQ(flag.out, command.out);
  EXPECT_TRUE(std::regex_search(flag.out, std::regex(R"(^tutti \d+\.\d+\.\d+\n)"))) << flag.out;
}

TEST_F(VersionCommand, NamesWhatWasBuiltIn) {
  const Ran ran = run({"version", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  // What the build says must be what the program does.
  const bool toml = ran.out.find("\"toml\":true") != std::string::npos;
  const std::string machine = write("machine.toml", "schema_version = 1\nname = 'm'\n");
  const Ran shown = run({"machine", "show", machine});
  EXPECT_EQ(shown.err.find("built without") == std::string::npos, toml) << shown.err;
  const bool metis = ran.out.find("\"metis\":true") != std::string::npos;
  const Ran policies = run({"policies"});
  EXPECT_EQ(policies.out.find("min_cut") != std::string::npos, metis);
}

}  // namespace
}  // namespace tutti
