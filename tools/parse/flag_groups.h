// Under which heading the help of a command lists a flag. A flag means the same in every command,
// so its name decides, unless its declaration names a group.

#ifndef TUTTI_TOOLS_PARSE_FLAG_GROUPS_H_
#define TUTTI_TOOLS_PARSE_FLAG_GROUPS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tutti {

struct FlagGroup {
  std::string title;
  std::vector<const CLI::Option*> options;
};

// What the help lists, positionals first, in the order of the headings. A command with a handful of
// flags has one heading; what no heading claims comes under "More".
std::vector<FlagGroup> flag_groups(const CLI::App& command);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PARSE_FLAG_GROUPS_H_
