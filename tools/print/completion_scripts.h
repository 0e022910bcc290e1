// Scripts by which a shell completes the command line of tutti. They are made from what the parser
// knows, so they cannot fall behind.

#ifndef TUTTI_TOOLS_PRINT_COMPLETION_SCRIPTS_H_
#define TUTTI_TOOLS_PRINT_COMPLETION_SCRIPTS_H_

#include <string>
#include <vector>

namespace tutti {

// A flag, a positional argument (without names), or a sub-command (with one name).
struct CompletedWord {
  std::vector<std::string> names;  // "--machine", "-m"
  std::string what;
  bool takes_value = false;
  std::vector<std::string> values;  // which a shell should offer; empty: files
};

struct CompletedCommand {
  std::string path;  // "graph make"; the program itself is ""
  std::vector<CompletedWord> below;
  std::vector<CompletedWord> flags;
  std::vector<std::string> values;  // of its positional argument; empty: files
};

// `commands` are all, each before those below it. Descriptions may hold any character.
std::string bash_completion(const std::vector<CompletedCommand>& commands);
std::string zsh_completion(const std::vector<CompletedCommand>& commands);
std::string fish_completion(const std::vector<CompletedCommand>& commands);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_COMPLETION_SCRIPTS_H_
