#include "tools/parse/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tutti/base/suggest.h"

namespace tutti {
namespace {

const CLI::App* below(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

bool is_flag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// "; write it behind plan, as in tutti plan --seed" if the flag belongs to a command further on.
std::string meant_further_on(const ReachedCommand& reached, const std::string& flag,
                             const std::vector<std::string>& words) {
  for (size_t i = reached.used; i < words.size(); ++i) {
    const CLI::App* next = below(*reached.command, words[i]);
    if (next == nullptr || !has(listed_flags(*next), flag)) continue;
    return fmt::format("; write it behind {}, as in {} {} {}", words[i], reached.path, words[i],
                       flag);
  }
  return "";
}

// "" if every flag among the words is known.
std::string unknown_flag(const ReachedCommand& reached, const std::vector<std::string>& words) {
  const std::vector<std::string> known = listed_flags(*reached.command);
  for (size_t i = reached.used; i < words.size() && words[i] != "--"; ++i) {
    const std::string flag = words[i].substr(0, words[i].find('='));
    if (!is_flag(flag) || has(known, flag)) continue;
    if (flag[1] != '-' && has(known, flag.substr(0, 2))) continue;  // -j4 is -j with its value
    std::string meant = meant_further_on(reached, flag, words);
    if (meant.empty()) meant = did_you_mean(flag[1] == '-' ? flag : "-" + flag, known);
    return fmt::format("{} has no flag '{}'{}", reached.path, flag, meant);
  }
  return "";
}

using Parts = std::vector<std::string>;

// What stands between the marks, which follow each other in the text, and behind the last one; none
// if a mark is missing.
Parts parts_of(const std::string& text, const std::vector<std::string>& marks) {
  Parts parts;
  size_t from = 0;
  for (size_t i = 0; i < marks.size(); ++i) {
    const size_t at = text.find(marks[i], from);
    if (at == std::string::npos || (i == 0 && at != 0)) return {};
    if (i > 0) parts.push_back(text.substr(from, at - from));
    from = at + marks[i].size();
  }
  if (from < text.size()) parts.push_back(text.substr(from));
  return parts;
}

// "a,b" as {"a", "b"}.
std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

}  // namespace

ReachedCommand follow_words(const CLI::App& app, const std::vector<std::string>& words) {
  ReachedCommand reached{&app, app.get_name(), 0};
  while (reached.used < words.size()) {
    const CLI::App* next = below(*reached.command, words[reached.used]);
    if (next == nullptr) break;
    reached.path += (reached.path.empty() ? "" : " ") + next->get_name();
    reached = {next, reached.path, reached.used + 1};
  }
  return reached;
}

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty()) names.push_back(sub->get_name());  // a hidden one has no group
  }
  return names;
}

std::vector<std::string> listed_flags(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

std::string unknown_command_text(const ReachedCommand& reached, const std::string& word) {
  const std::vector<std::string> names = names_below(*reached.command);
  const std::string meant = did_you_mean(word, names);
  return fmt::format("{} has no '{}'{} known are: {}; see {} --help", reached.path, word,
                     meant.empty() ? ";" : meant, comma_list(names), reached.path);
}

// The parser's own sentences begin with the flag.
std::string value_error_text(const CLI::ParseError& error) {
  const std::string text = error.what();
  const Parts no_member = parts_of(text, {"", ": ", " not in {", "}"});
  if (!no_member.empty()) {
    return no_member[0] + ": " + unknown_word("value", no_member[1], split_at_commas(no_member[2]));
  }
  const Parts beyond = parts_of(text, {"", ": Value ", " not in range ", " to "});
  if (!beyond.empty()) {
    return fmt::format("{} must be from {} to {}, not {}", beyond[0], beyond[2], beyond[3],
                       beyond[1]);
  }
  const Parts no_number = parts_of(text, {"Could not convert: ", " = "});
  if (!no_number.empty()) {
    return fmt::format("{} takes a number, not '{}'", no_number[0], no_number[1]);
  }
  const Parts no_value = parts_of(text, {"", ": ", " required ", " missing"});
  if (!no_value.empty()) return no_value[0] + " needs a value";
  return text;
}

std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error,
                             const std::vector<std::string>& words) {
  const ReachedCommand reached = follow_words(app, words);
  const std::vector<std::string> names = names_below(*reached.command);
  const std::string help = fmt::format("see {} --help", reached.path);
  if (!names.empty()) {
    if (reached.used == words.size()) {
      return fmt::format("{} needs one of: {}; {}", reached.path, comma_list(names), help);
    }
    const std::string& word = words[reached.used];
    if (!is_flag(word)) return unknown_command_text(reached, word);
  }
  const bool required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (required || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string flag = unknown_flag(reached, words);
    if (!flag.empty()) return fmt::format("{}{} {}", flag, flag.ends_with('?') ? "" : ";", help);
  }
  return fmt::format("{}; {}", value_error_text(error), help);
}

void refuse_empty_values(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (has(option->results(), "")) {
      throw CLI::ValidationError(option->get_name(false, false) +
                                 " needs a value, and the one given is empty");
    }
  }
  for (const CLI::App* sub : app.get_subcommands()) refuse_empty_values(*sub);
}

}  // namespace tutti
