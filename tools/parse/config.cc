#include "tools/parse/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "tools/parse/refusal.h"
#include "tutti/base/file/source.h"
#include "tutti/base/suggest.h"
#include "tutti/graph/import/text.h"

namespace tutti {
namespace {

using Kind = Document::Kind;

constexpr const char* kSchemaVersion = "schema_version";

[[noreturn]] void refuse(const std::string& file, int line, const std::string& sentence) {
  throw CLI::ConfigError(error_at(file, line, sentence).message);
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string usual_path() {
  std::string folder = environment("XDG_CONFIG_HOME");
  if (folder.empty()) {
    const std::string home = environment("HOME");
    if (home.empty()) return "";
    folder = home + "/.config";
  }
  return folder + "/tutti/config.toml";
}

// Keys may be written as in our other files: tail_weight.
std::string flag_of(std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  return key;
}

bool can_be_set(const CLI::Option& option) {
  for (const char* name : {"help", "version", "config", "no-config", "color"}) {
    if (option.check_lname(name)) return false;
  }
  return !option.get_group().empty();
}

CLI::Option* find_flag(CLI::App& command, const std::string& key, bool positionals) {
  const std::string flag = flag_of(key);
  for (CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    if (!can_be_set(*option)) continue;
    if (!option->get_positional() && option->check_lname(flag)) return option;
    if (positionals && option->get_positional() && option->get_name(true, false) == flag) {
      return option;
    }
  }
  return nullptr;
}

// Takes no value on the command line.
bool is_switch(const CLI::Option& option) {
  return option.get_items_expected_max() == 0;
}

// As keys: "tail-weight".
void add_flags_of(const CLI::App& command, bool positionals, std::vector<std::string>& flags) {
  for (const CLI::Option* option : command.get_options()) {
    if (!can_be_set(*option)) continue;
    if (option->get_positional()) {
      if (positionals) flags.push_back(option->get_name(true, false));
      continue;
    }
    for (const std::string& name : option->get_lnames()) flags.push_back(name);
  }
}

void add_flags_below(const CLI::App& command, std::vector<std::string>& flags) {
  add_flags_of(command, /*positionals=*/false, flags);
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    add_flags_below(*sub, flags);
  }
}

const CLI::App* command_below(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

// The words of a scalar, as they would stand on the command line.
std::string word_of(const Document& item, const std::string& file, const std::string& key) {
  switch (item.kind) {
    case Kind::text:
      return item.text;
    case Kind::boolean:
      return item.boolean ? "true" : "false";
    case Kind::integer:
      return fmt::format("{}", item.integer);
    case Kind::number:
      return fmt::format("{}", item.number);
    default:
      refuse(file, item.line,
             fmt::format("\"{}\" must be a text, a number, true, false or a list of them, not {}",
                         key, to_text(item.kind)));
  }
}

std::vector<std::string> words_of(const CLI::Option& option, const Document& item,
                                  const std::string& file, const std::string& key) {
  const bool on_or_off = is_switch(option);
  if (on_or_off && item.kind != Kind::boolean) {
    refuse(file, item.line, fmt::format("\"{}\" is a switch: true or false", key));
  }
  if (on_or_off)
    return item.boolean ? std::vector<std::string>{"true"} : std::vector<std::string>{};
  if (item.kind == Kind::boolean) {
    refuse(file, item.line, fmt::format("\"{}\" takes a value, not true or false", key));
  }
  if (item.kind != Kind::array) return {word_of(item, file, key)};
  if (option.get_expected_max() < CLI::detail::expected_max_vector_size) {
    refuse(file, item.line, fmt::format("\"{}\" takes one value, not a list", key));
  }
  std::vector<std::string> words;
  for (const Document& part : item.items) words.push_back(word_of(part, file, key));
  return words;
}

// "" if nothing that was given, or came from a table that goes first, stands against it.
std::string stands_against(const CLI::Option& option) {
  for (const CLI::Option* other : option.get_excludes()) {
    if (other->count() > 0) return other->get_name(false, false);
  }
  return "";
}

// Tables from the general to the special: of the file, of "graph", of "graph make".
std::vector<const Document*> tables_for(const Document& content,
                                        const std::vector<std::string>& path) {
  std::vector<const Document*> tables = {&content};
  for (const std::string& name : path) {
    const Document* next = tables.back()->find(name);
    if (next == nullptr || next->kind != Kind::object) break;
    tables.push_back(next);
  }
  return tables;
}

// {"train"} for the program "tutti train".
std::vector<std::string> path_of_program(const CLI::App& app) {
  const std::string& name = app.get_name();
  const size_t blank = name.find(' ');
  if (blank == std::string::npos) return {};
  return {name.substr(blank + 1)};
}

// tutti batch EXPERIMENT.toml: the file says all that decides its results.
bool names_experiment(const CLI::App& command) {
  if (command.get_name() != "batch") return false;
  const CLI::Option* graphs = command.get_option_no_throw("graphs");
  return graphs != nullptr && graphs->count() == 1 && graphs->results()[0].ends_with(".toml");
}

bool chooses_policy(const CLI::Option& option) {
  const char* const flags[] = {"policy", "policies", "plan", "online"};
  return std::any_of(std::begin(flags), std::end(flags),
                     [&](const char* flag) { return option.check_lname(flag); });
}

bool holds_tables(const Document& item) {
  return std::any_of(item.items.begin(), item.items.end(), [](const Document& part) {
    return part.kind == Kind::object || part.kind == Kind::array;
  });
}

// True if a key above it in the table is the same flag: tail_weight and tail-weight.
bool stands_twice(const Document& table, size_t at) {
  return std::any_of(
      table.keys.begin(), table.keys.begin() + static_cast<std::ptrdiff_t>(at),
      [&](const std::string& key) { return flag_of(key) == flag_of(table.keys[at]); });
}

std::string twice_text(const std::string& key) {
  return fmt::format("\"{}\" is set twice, once with _ and once with -; leave one out", key);
}

class Checker {
 public:
  explicit Checker(const std::string& file) : file_(file) {}

  Result<void> check(const Document& table, const CLI::App& command, const std::string& path) {
    std::vector<std::string> flags;
    add_flags_below(command, flags);
    if (command.get_parent() == nullptr) flags.emplace_back("color");  // see read_color
    for (size_t i = 0; i < table.items.size(); ++i) {
      const std::string& key = table.keys[i];
      const Document& item = table.items[i];
      if (item.kind == Kind::object) {
        const CLI::App* next = command_below(command, key);
        if (next == nullptr) {
          return unknown(item, path + " has no command", key, names_below(command));
        }
        if (next->get_prefix_command()) continue;  // another program, which checks it
        if (const auto good = check(item, *next, path + " " + key); !good) return good;
      } else if (std::find(flags.begin(), flags.end(), flag_of(key)) == flags.end()) {
        return unknown(item, path + " has no flag", flag_of(key), flags);
      } else if (stands_twice(table, i)) {
        return error_at(file_, item.line, twice_text(key));
      } else if (holds_tables(item)) {
        return error_at(file_, item.line,
                        fmt::format("\"{}\" must be a value or a list of values", key));
      }
    }
    return {};
  }

 private:
  Result<void> unknown(const Document& item, const std::string& sentence, const std::string& key,
                       const std::vector<std::string>& known) const {
    const std::string meant = did_you_mean(key, known);
    return error_at(file_, item.line,
                    fmt::format("{} '{}'{}", sentence, shown(key),
                                meant.empty() ? "; keys are the long flags of its help" : meant));
  }

  std::string file_;
};

}  // namespace

Result<std::optional<ConfigFile>> find_config() {
  const char* chosen = std::getenv("TUTTI_CONFIG");
  const std::string path = chosen != nullptr ? chosen : usual_path();
  std::error_code error;
  if (path.empty()) return std::optional<ConfigFile>();
  if (chosen == nullptr && !std::filesystem::exists(path, error)) {
    return std::optional<ConfigFile>();
  }
  Result<Source> source = Source::open(path);
  if (!source) {
    return invalid_input(source.error().message +
                         "; it is the config file, and --no-config goes without it");
  }
  Result<Document> content = read_document(*source);
  if (!content) return content.error();
  if (content->kind != Kind::object) {
    return error_at(path, content->line, "a config file is a table of keys");
  }
  // The version may be left out: the file is written by people.
  const auto key = std::find(content->keys.begin(), content->keys.end(), kSchemaVersion);
  if (key != content->keys.end()) {
    const auto version = content->items.begin() + (key - content->keys.begin());
    if (version->kind != Kind::integer || version->integer != 1) {
      return error_at(path, version->line, "this tutti reads config files of schema_version 1");
    }
    content->items.erase(version);
    content->keys.erase(key);
  }
  return std::optional<ConfigFile>(ConfigFile{path, std::move(*content)});
}

Result<void> check_config(const ConfigFile& file, const CLI::App& app, ProgramPart part) {
  const std::vector<std::string> path = path_of_program(app);
  if (part == ProgramPart::whole)
    return Checker(file.path).check(file.content, app, app.get_name());
  const std::vector<const Document*> tables = tables_for(file.content, path);
  if (path.empty() || tables.size() <= path.size()) return {};
  return Checker(file.path).check(*tables.back(), app, app.get_name());
}

void take_table(CLI::App& command, const Document& table, const TakeTable& how,
                std::vector<std::string>& taken) {
  std::vector<const CLI::Option*> here;
  for (size_t i = 0; i < table.items.size(); ++i) {
    const std::string& key = table.keys[i];
    const Document& item = table.items[i];
    if (item.kind == Kind::object && how.exact) {
      refuse(how.file, item.line,
             fmt::format("an experiment has no table '[{}]'; write its keys at the top of the file",
                         shown(key)));
    }
    if (item.kind == Kind::object || (how.exact && key == kSchemaVersion)) continue;
    CLI::Option* option = find_flag(command, key, how.positionals);
    if (option == nullptr && how.exact) {
      std::vector<std::string> known;
      add_flags_of(command, how.positionals, known);
      const std::string meant = did_you_mean(flag_of(key), known);
      refuse(how.file, item.line,
             fmt::format("there is no key '{}'{}", shown(key),
                         meant.empty() ? "; known are: " + comma_list(known) : meant));
    }
    if (option != nullptr && stands_twice(table, i)) refuse(how.file, item.line, twice_text(key));
    if (option == nullptr || option->count() > 0) continue;
    if (how.wanted && !how.wanted(*option)) continue;
    if (const std::string other = stands_against(*option); !other.empty()) {
      const bool both_here = std::any_of(here.begin(), here.end(), [&](const CLI::Option* one) {
        return one->get_name(false, false) == other;
      });
      if (!both_here) continue;
      refuse(how.file, item.line,
             fmt::format("\"{}\" cannot stand with {}; leave one out", key, other));
    }
    const std::vector<std::string> words = words_of(*option, item, how.file, key);
    if (words.empty()) continue;
    if (std::find(words.begin(), words.end(), "") != words.end()) {
      refuse(how.file, item.line,
             fmt::format("\"{}\" is empty; give it a value, or leave it out", key));
    }
    try {
      if (is_switch(*option)) {
        option->add_result(option->get_flag_value("--" + flag_of(key), words[0]));
      } else {
        option->add_result(words);
      }
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      refuse(how.file, item.line, value_error_text(error));
    }
    here.push_back(option);
    std::string text = option->get_name(false, false);
    for (const std::string& word : words) text += is_switch(*option) ? "" : " " + word;
    taken.push_back(text);
  }
}

std::string ConfigHook::to_config(const CLI::App* /*app*/, bool /*defaults*/, bool /*descriptions*/,
                                  std::string /*prefix*/) const {
  return "";
}

std::vector<CLI::ConfigItem> ConfigHook::from_config(std::istream& /*unused*/) const {
  std::vector<CLI::App*> commands = {&app_};
  std::vector<std::string> path = path_of_program(app_);
  for (;;) {
    const std::vector<CLI::App*> chosen = commands.back()->get_subcommands();
    if (chosen.empty()) break;
    path.push_back(chosen[0]->get_name());
    commands.push_back(chosen[0]);
  }
  if (names_experiment(*commands.back())) return {};
  CLI::App& command = *commands.back();
  const std::vector<const Document*> tables = tables_for(file_.content, path);
  const auto take = [&](const std::function<bool(const CLI::Option&)>& wanted) {
    for (size_t i = tables.size(); i-- > 0;) {
      take_table(command, *tables[i], {.file = file_.path, .wanted = wanted}, taken_);
    }
  };
  take(chooses_policy);  // first: whether the others are of use depends on it
  take([&](const CLI::Option& option) { return of_use_(command, option); });
  return {};
}

}  // namespace tutti
