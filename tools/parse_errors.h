// What to tell a person whose words the parser refused: which word it was, what was probably meant,
// and what there is. The parser itself would only say that a sub-command is required.

#ifndef TUTTI_TOOLS_PARSE_ERRORS_H_
#define TUTTI_TOOLS_PARSE_ERRORS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tutti {

// One sentence without a full stop. `words` are those that were parsed, without the program's name;
// `app` is named as people call it ("tutti", "tutti graph make").
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error,
                             const std::vector<std::string>& words);

// The words of main's arguments behind the program's name.
std::vector<std::string> words_of(int argc, char** argv);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PARSE_ERRORS_H_
