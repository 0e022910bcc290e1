// Why words of the command line were refused, in one sentence: which word it was, what was probably
// meant, and what there is. The parser itself would only say that a sub-command is required.

#ifndef TUTTI_TOOLS_PARSE_REFUSAL_H_
#define TUTTI_TOOLS_PARSE_REFUSAL_H_

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

// The command that the words name, as far as they name one.
struct ReachedCommand {
  const CLI::App* command;
  std::string path;  // "tutti graph make"
  size_t used;       // words
};
ReachedCommand follow_words(const CLI::App& app, const std::vector<std::string>& words);

// The sub-commands that help lists.
std::vector<std::string> names_below(const CLI::App& app);

// "--machine" and "-m" of each flag of the command, without those that help hides.
std::vector<std::string> listed_flags(const CLI::App& command);

// "tutti has no 'plann'; did you mean 'plan'? known are: ...; see tutti --help".
std::string unknown_command_text(const ReachedCommand& reached, const std::string& word);

// One sentence without a full stop. `words` are those that were parsed, without the program's name;
// `app` is named as people call it ("tutti", "tutti graph make").
std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error,
                             const std::vector<std::string>& words);

// What is wrong with the value of a flag, without the hint at the help.
std::string value_error_text(const CLI::ParseError& error);

// No flag or argument takes an empty text: commands would take it for one that was not given.
// Throws CLI::ValidationError if one has it, of this command or of those below it that were called.
void refuse_empty_values(const CLI::App& app);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PARSE_REFUSAL_H_
