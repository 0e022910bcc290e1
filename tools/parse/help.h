// The help of tutti and of each command: as wide as the terminal, flags under headings, examples at
// the end.

#ifndef TUTTI_TOOLS_PARSE_HELP_H_
#define TUTTI_TOOLS_PARSE_HELP_H_

#include <CLI/CLI.hpp>
#include <string>

namespace tutti {

// Has this command and all below it print their help so.
void set_help(CLI::App& app);

// The help of one command, in that many columns. `path` is how people call it: "tutti graph make".
std::string help_text(const CLI::App& command, const std::string& path, size_t width);

// Columns of standard output if it is a terminal, else those of $COLUMNS, else 80; at most 100,
// because longer lines are hard to read, and at least 40.
size_t help_width();

}  // namespace tutti

#endif  // TUTTI_TOOLS_PARSE_HELP_H_
