#include "tools/parse/help.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "tools/parse/flag_groups.h"
#include "tools/print/color.h"

namespace tutti {
namespace {

constexpr size_t kUsualWidth = 80;
constexpr size_t kDescriptionColumn = 26;

// Words in lines of at most that many columns; a longer word has its own line.
std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines(1);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() || word.empty() ? "" : " ") + word;
    if (end < text.size() && text[end] == '\n') lines.emplace_back();
    at = end + 1;
  }
  return lines;
}

std::string heading(const std::string& title) {
  return "\n" + colored(title + ":", Color::bold, stdout) + "\n";
}

// A name, and what it is in the columns behind it, or below it if the name is long.
std::string entry(const std::string& name, const std::string& what, size_t width) {
  const bool narrow = width < 2 * kDescriptionColumn;
  const size_t column = narrow ? 6 : kDescriptionColumn;
  const std::string indent(column, ' ');
  std::string text = "  " + name;
  const bool below = text.size() + 2 > column;
  bool first = true;
  for (const std::string& line : wrapped(what, width - column)) {
    if (first && !below) {
      text += std::string(column - text.size(), ' ') + line;
    } else {
      text += "\n" + indent + line;
    }
    first = false;
  }
  return text + "\n";
}

// "one of: sim, local" and "1 to 100" for what the parser checks, behind the type.
std::string allowed_values(const CLI::Option& option, std::string& type) {
  const std::string full = option.get_type_name();
  const size_t colon = full.find(':');
  type = full.substr(0, colon);
  if (type == "TEXT" && colon == std::string::npos) return "";
  if (type == "INT" || type == "UINT" || type == "FLOAT") type = "NUMBER";
  if (colon == std::string::npos) return "";
  const std::string check = full.substr(colon + 1);
  if (check[0] == '{') {
    std::string names;
    for (const char letter : check.substr(1, check.find('}') - 1)) {
      names += letter == ',' ? std::string(", ") : std::string(1, letter);
    }
    return names.find(',') == std::string::npos ? "" : "one of: " + names;
  }
  const size_t begin = check.find(" in [");
  if (begin == std::string::npos) {
    if (check.find(' ') == std::string::npos) type = check;  // TIME, FOLDER
    if (check == "WHOLE") type = "NUMBER";
    return "";
  }
  std::string range = check.substr(begin + 5, check.find(']') - begin - 5);
  const size_t dash = range.find(" - ");
  if (dash != std::string::npos) range.replace(dash, 3, " to ");
  return range;
}

std::string option_entry(const CLI::Option& option, size_t width) {
  std::string type;
  std::vector<std::string> notes;
  const std::string values = allowed_values(option, type);
  const std::string what = option.get_description();
  if (!values.empty() && values.size() < 60) notes.push_back(values);
  const bool many = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  std::string name;
  if (option.get_positional()) {
    name = option.get_name(true, false) + (many ? "..." : "");
  } else {
    for (const std::string& letter : option.get_snames()) name += "-" + letter + ", ";
    if (option.get_snames().empty()) name += "    ";
    for (const std::string& word : option.get_lnames()) {
      name += (name.ends_with(", ") || name == "    " ? "--" : ", --") + word;
    }
    const bool takes_value = option.get_items_expected_max() > 0;
    if (takes_value && !type.empty()) name += " " + type + (many ? "..." : "");
  }
  const std::string& fallback = option.get_default_str();
  if (!fallback.empty() && what.find("default:") == std::string::npos) {
    notes.push_back("default: " + fallback);
  }
  if (option.get_required()) notes.emplace_back("required");
  for (const CLI::Option* other : option.get_excludes()) {
    notes.push_back("not with " + other->get_name(false, false));
  }
  for (const CLI::Option* other : option.get_needs()) {
    notes.push_back("with " + other->get_name(false, false));
  }
  std::string suffix;
  for (const std::string& note : notes) suffix += (suffix.empty() ? "" : "; ") + note;
  return entry(name, suffix.empty() ? what : what + " (" + suffix + ")", width);
}

std::string usage(const CLI::App& command, const std::string& path) {
  std::string line = "Usage: " + path;
  const auto below = command.get_subcommands([](const CLI::App*) { return true; });
  if (!below.empty()) return line + " COMMAND ...\n";
  line += " [FLAGS]";
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() || option->get_group().empty()) continue;
    const bool many = option->get_expected_max() >= CLI::detail::expected_max_vector_size;
    const std::string name = option->get_name(true, false) + (many ? "..." : "");
    line += option->get_required() ? " " + name : " [" + name + "]";
  }
  return line + "\n";
}

std::string commands_below(const CLI::App& command, size_t width) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string& title = sub->get_group();
    if (title.empty()) continue;  // hidden
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& one) { return one.first == title; });
    if (group == groups.end()) group = groups.insert(groups.end(), {title, ""});
    group->second += entry(sub->get_name(), sub->get_description(), width);
  }
  std::string text;
  for (const auto& [title, rows] : groups) {
    text += heading(title == "Subcommands" ? "Commands" : title) + rows;
  }
  return text;
}

// One line of what stands above or below the flags: an example that is too long goes on in the next
// line, as a shell reads it.
std::string whole_line(const std::string& line, size_t width) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  if (line.size() <= width) return line + "\n";
  const bool example =
      line.find("tutti ") != std::string::npos && line.find(" -") != std::string::npos;
  const std::string margin(indent + (example ? std::string("Example: ").size() + 2 : 0), ' ');
  std::string text;
  std::string rest = line;
  while (rest.size() > width) {
    const size_t last = example ? rest.rfind(" -", width - 2) : rest.rfind(' ', width);
    const bool nowhere = last == std::string::npos ||
                         rest.find_first_not_of(' ') == std::string::npos ||
                         last <= rest.find_first_not_of(' ');
    if (nowhere) break;
    text += rest.substr(0, last) + (example ? " \\\n" : "\n");
    rest = margin + rest.substr(last + 1);
  }
  return text + rest + "\n";
}

// Lines that keep their indents.
std::string block(const std::string& lines, size_t width) {
  std::string text;
  for (size_t at = 0; at <= lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    text += whole_line(lines.substr(at, end - at), width);
    at = end + 1;
  }
  return text;
}

std::string path_of(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  return above == nullptr ? command.get_name() : path_of(*above) + " " + command.get_name();
}

}  // namespace

size_t help_width() {
  winsize size{};
  size_t width = kUsualWidth;
  if (::isatty(STDOUT_FILENO) != 0) {
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) width = size.ws_col;
  } else if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    const long given = std::strtol(columns, nullptr, 10);
    if (given > 0) width = static_cast<size_t>(given);
  }
  return std::clamp<size_t>(width, 40, 100);
}

std::string help_text(const CLI::App& command, const std::string& path, size_t width) {
  std::string text = block(command.get_description(), width);
  text += "\n" + usage(command, path);
  text += commands_below(command, width);
  for (const FlagGroup& group : flag_groups(command)) {
    text += heading(group.title);
    for (const CLI::Option* option : group.options) text += option_entry(*option, width);
  }
  const std::string footer = command.get_footer();
  return footer.empty() ? text : text + "\n" + block(footer, width);
}

void set_help(CLI::App& app) {
  app.formatter_fn([](const CLI::App* command, std::string /*name*/, CLI::AppFormatMode /*mode*/) {
    return help_text(*command, path_of(*command), help_width());
  });
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) set_help(*sub);
}

}  // namespace tutti
