#include "tools/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>

#include "tools/parse/help.h"
#include "tools/parse/refusal.h"
#include "tools/print/messages.h"
#include "tools/search_options.h"
#include "tutti/base/suggest.h"

namespace tutti {
namespace {

// Words that were renamed are accepted for one more release.
std::vector<std::string> current_words(int argc, char** argv) {
  const std::pair<std::string_view, const char*> renamed[] = {{"--quick", "--fallback"},
                                                              {"--ladder", "--sizes"}};
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  for (std::string& word : words) {
    for (const auto& [before, now] : renamed) {
      const std::string_view rest =
          std::string_view(word).substr(std::min(before.size(), word.size()));
      if (word.starts_with(before) && (rest.empty() || rest[0] == '='))
        word = now + std::string(rest);
    }
  }
  if (words.size() > 1 && words[0] == "graph" && words[1] == "shake") words[1] = "perturb";
  return words;
}

const std::vector<std::string>& color_words() {
  static const std::vector<std::string> words = {"auto", "always", "never"};
  return words;
}

Result<void> choose_color(const std::string& word, const std::string& where) {
  const std::vector<std::string>& known = color_words();
  if (std::find(known.begin(), known.end(), word) == known.end()) {
    return invalid_input(where + unknown_word("value", word, known));
  }
  ::setenv("TUTTI_COLOR", word.c_str(), 1);
  return {};
}

// Takes a flag of the whole program off the words, with its value if it has one in the next word.
// Fails (invalid_input) if the value is missing.
Result<std::string> take_value(std::vector<std::string>& words, size_t at,
                               const std::string& flag) {
  std::string value;
  if (words[at].size() > flag.size()) {
    value = words[at].substr(flag.size() + 1);
  } else if (at + 1 < words.size()) {
    value = words[at + 1];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  } else {
    return invalid_input(flag + " needs a value; see tutti --help");
  }
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
  return value;
}

bool is_flag_named(const std::string& word, const std::string& flag) {
  return word == flag || word.starts_with(flag + "=");
}

Result<void> take_global_flags(std::vector<std::string>& words) {
  bool in_front = true;  // of the first sub-command
  for (size_t at = 0; at < words.size() && words[at] != "--";) {
    if (is_flag_named(words[at], "--color")) {
      const Result<std::string> value = take_value(words, at, "--color");
      if (!value) return value.error();
      if (const auto chosen = choose_color(*value, "--color: "); !chosen) return chosen;
    } else if (words[at] == "--no-config") {
      ::setenv("TUTTI_CONFIG", "", 1);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (in_front && is_flag_named(words[at], "--config")) {
      const Result<std::string> value = take_value(words, at, "--config");
      if (!value) return value.error();
      if (value->empty()) {
        return invalid_input("--config needs the name of a file; --no-config goes without one");
      }
      ::setenv("TUTTI_CONFIG", value->c_str(), 1);
    } else {
      in_front = in_front && words[at].starts_with('-');
      ++at;
    }
  }
  return {};
}

// "help plan" as "plan --help". Fails (invalid_input) on commands that there are not.
Result<void> turn_help_round(const CLI::App& app, std::vector<std::string>& words) {
  const std::vector<std::string> names = names_below(app);
  const bool has_help = std::find(names.begin(), names.end(), "help") != names.end();
  if (words.empty() || words[0] != "help" || !has_help) return {};
  words.erase(words.begin());
  const ReachedCommand reached = follow_words(app, words);
  const bool unknown = reached.used < words.size() && !words[reached.used].starts_with('-');
  if (unknown && !reached.command->get_prefix_command()) {
    return invalid_input(unknown_command_text(reached, words[reached.used]));
  }
  words.emplace_back("--help");
  return {};
}

// Help and completions must come whatever stands in the config file.
bool needs_config(const std::vector<std::string>& words) {
  if (words.empty() || words[0] == "completion") return false;
  return std::none_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--help" || word == "-h" || word == "--version";
  });
}

Result<void> read_color(const ConfigFile& file) {
  const Document* color = file.content.find("color");
  if (color == nullptr || std::getenv("TUTTI_COLOR") != nullptr) return {};
  return choose_color(color->text, fmt::format("{}:{}: color: ", file.path, color->line));
}

// Fails (invalid_input) on a file that is wrong.
Result<std::optional<ConfigFile>> config_for(const CLI::App& app,
                                             const std::vector<std::string>& words,
                                             ProgramPart part) {
  if (!needs_config(words)) return std::optional<ConfigFile>();
  Result<std::optional<ConfigFile>> file = find_config();
  if (!file || !*file) return file;
  if (const auto good = check_config(**file, app, part); !good) return good.error();
  if (const auto good = read_color(**file); !good) return good.error();
  return file;
}

// tutti-starpu parses the words again that tutti has parsed: tutti has said it.
void say_what_was_taken(const ConfigFile& file, const ConfigHook& hook, const CLI::App& app,
                        ProgramPart part) {
  if (hook.taken().empty() || (part == ProgramPart::companion && app.get_name() == "tutti")) return;
  print_note(one_line(fmt::format("{} sets {}", file.path, fmt::join(hook.taken(), ", "))));
}

}  // namespace

int run_program(CLI::App& app, int argc, char** argv, const int& exit_code,
                const std::function<int()>& run, ProgramPart part) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a full disk: its write fails
  std::vector<std::string> words = current_words(argc, argv);
  if (const auto good = take_global_flags(words); !good) return report(good.error());
  if (const auto good = turn_help_round(app, words); !good) return report(good.error());
  const Result<std::optional<ConfigFile>> file = config_for(app, words, part);
  if (!file) return report(file.error());
  set_help(app);
  // The parser calls the hook only if there is a file to read; which one does not matter.
  app.set_config("--config", *file ? "/dev/null" : "",
                 "Defaults of flags, instead of those of the usual config file")
      ->type_name("FILE");
  const auto hook = *file ? std::make_shared<ConfigHook>(**file, app, default_is_of_use) : nullptr;
  if (hook) app.config_formatter(hook);
  app.parse_complete_callback([&file, hook, &app, part] {
    refuse_empty_values(app);
    if (hook) say_what_was_taken(**file, *hook, app, part);
  });
  int code = 1;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    code = run ? run() : exit_code;
  } catch (const CLI::ConfigError& error) {  // a sentence of ours
    print_error(error.what());
    return 2;
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;  // for help or the version
    if (asked) code = app.exit(error);
    if (!asked && words.empty() && part == ProgramPart::whole) {
      fmt::print(stderr, "{}", app.help());
      return 2;
    }
    if (!asked) {
      print_error(one_line(parse_error_text(app, error, words)));
      return 2;
    }
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "tutti: there is not enough memory; raise the limit of this process (ulimit -v), or "
               "give it less to do\n");
    return 1;
  } catch (const std::exception& error) {  // such as a standard output that takes no more
    fmt::print(stderr, "tutti: {}\n", error.what());
    return 1;
  }
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!written && code == 0) {  // a command that failed has said why
    fmt::print(stderr, "tutti: standard output could not be written\n");
    return 1;
  }
  return with_interrupt(code);
}

}  // namespace tutti
