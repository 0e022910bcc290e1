// The config file: what flags are when the command line does not say. See docs/formats/config.md.
//
// $TUTTI_CONFIG names it; if that is set to nothing, none is read. Otherwise it is
// tutti/config.toml in $XDG_CONFIG_HOME or ~/.config. A file in the current folder is never read by
// itself: results must not depend on where a command is called.

#ifndef TUTTI_TOOLS_PARSE_CONFIG_H_
#define TUTTI_TOOLS_PARSE_CONFIG_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/file/document.h"

namespace tutti {

struct ConfigFile {
  std::string path;
  Document content;
};

// Nothing if there is none. Fails (invalid_input) if $TUTTI_CONFIG names a file that cannot be
// read, and on a file that is not TOML.
Result<std::optional<ConfigFile>> find_config();

// Companion programs know some of the commands; the whole program has checked the rest.
enum class ProgramPart { whole, companion };

// Fails (invalid_input), with file, line and suggestion, on names of commands and flags that there
// are not.
Result<void> check_config(const ConfigFile& file, const CLI::App& app, ProgramPart part);

// Whether a default is of use to a command whose flags of policies and plans are set already.
using OfUse = std::function<bool(const CLI::App&, const CLI::Option&)>;

// Gives flags that were not given on the command line their values: a hook for the parser to call
// between reading the words and looking at what is required. The file must outlive it. Defaults
// that are of no use are left out.
class ConfigHook : public CLI::Config {
 public:
  ConfigHook(const ConfigFile& file, CLI::App& app, OfUse of_use)
      : file_(file), app_(app), of_use_(std::move(of_use)) {}

  std::string to_config(const CLI::App* app, bool defaults, bool descriptions,
                        std::string prefix) const override;
  // Throws CLI::ConfigError, with a whole sentence, on a value that a flag does not take.
  std::vector<CLI::ConfigItem> from_config(std::istream& unused) const override;

  // What was taken from the file: "--machine p100-4".
  const std::vector<std::string>& taken() const { return taken_; }

 private:
  const ConfigFile& file_;
  CLI::App& app_;
  OfUse of_use_;
  mutable std::vector<std::string> taken_;  // from_config is const
};

// Gives the command's flags, and positionals if `positionals` says so, what the table says, unless
// they were given. Appends what was taken. `exact`: a name that the command does not have is wrong.
// Options that `wanted` refuses are left out; null: all are wanted. Throws CLI::ConfigError.
struct TakeTable {
  std::string file;
  bool positionals = false;
  bool exact = false;
  std::function<bool(const CLI::Option&)> wanted{};
};
void take_table(CLI::App& command, const Document& table, const TakeTable& how,
                std::vector<std::string>& taken);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PARSE_CONFIG_H_
