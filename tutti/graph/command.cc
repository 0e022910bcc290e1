#include "tutti/graph/command.h"

#include <algorithm>

namespace tutti {

std::string fault_of(const Command& command) {
  const auto has_zero = [](const std::string& text) {
    return text.find('\0') != std::string::npos;
  };
  if (command.argv.empty() || command.argv[0].empty()) return "it names no program";
  bool zero = has_zero(command.directory);
  for (const auto* texts : {&command.argv, &command.input_files, &command.output_files}) {
    zero = zero || std::any_of(texts->begin(), texts->end(), has_zero);
  }
  for (const auto& [name, text] : command.environment) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return "a variable of its environment has no name, or one with '='";
    }
    zero = zero || has_zero(name) || has_zero(text);
  }
  if (zero) return "a text of it holds a zero byte";
  for (const auto* files : {&command.input_files, &command.output_files}) {
    for (const std::string& file : *files) {
      if (file.empty()) return "a file of it has no name";
    }
  }
  return "";
}

}  // namespace tutti
