// Runs a program of sub-commands: takes the flags that all of them have, reads the config file,
// parses the words, and prints why they were refused.

#ifndef TUTTI_TOOLS_COMMAND_LINE_H_
#define TUTTI_TOOLS_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tools/parse/config.h"

namespace tutti {

// Parses the words of main, behind the program's name, and then calls `run`, if there is one, for
// the exit code; otherwise the exit code is what the sub-command left in `exit_code`. Prints why
// words were refused, why memory or standard output failed, and what an interrupt cut short.
//
// Before the parser sees the words: --color and --no-config, wherever they stand, and --config in
// front become environment variables, which programs that this one becomes read too; and
// "help COMMAND" becomes "COMMAND --help" if there is a sub-command help.
int run_program(CLI::App& app, int argc, char** argv, const int& exit_code,
                const std::function<int()>& run = {}, ProgramPart part = ProgramPart::companion);

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMMAND_LINE_H_
