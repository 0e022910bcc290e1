// Runs a program of sub-commands: parses its words, and says in one sentence why they were refused:
// which word it was, what was probably meant, and what there is. The parser itself would only say
// that a sub-command is required.

#ifndef TUTTI_TOOLS_COMMAND_LINE_H_
#define TUTTI_TOOLS_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace tutti {

// Parses the words of main, behind the program's name, and then calls `run`, if there is one, for
// the exit code; otherwise the exit code is what the sub-command left in `exit_code`. Prints why
// words were refused, why memory or standard output failed, and what an interrupt cut short.
int run_program(CLI::App& app, int argc, char** argv, const int& exit_code,
                const std::function<int()>& run = {});

// One sentence without a full stop. `words` are those that were parsed, without the program's name;
// `app` is named as people call it ("tutti", "tutti graph make").
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error,
                             const std::vector<std::string>& words);

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMMAND_LINE_H_
