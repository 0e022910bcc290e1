#include "tools/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "tools/search_options.h"
#include "tutti/base/suggest.h"

namespace tutti {
namespace {

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!sub->get_group().empty()) names.push_back(sub->get_name());  // a hidden one has no group
  }
  return names;
}

const CLI::App* below(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (sub->get_name() == name) return sub;
  }
  return nullptr;
}

// The command that the words name as far as they name one.
struct Reached {
  const CLI::App* command;
  std::string path;
  size_t used;  // words
};

Reached follow(const CLI::App& app, const std::vector<std::string>& words) {
  Reached reached{&app, app.get_name(), 0};
  while (reached.used < words.size()) {
    const CLI::App* next = below(*reached.command, words[reached.used]);
    if (next == nullptr) break;
    reached.path += (reached.path.empty() ? "" : " ") + next->get_name();
    reached = {next, reached.path, reached.used + 1};
  }
  return reached;
}

bool is_flag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         std::isdigit(static_cast<unsigned char>(word[1])) == 0;
}

// "" if every flag among the words is known.
std::string unknown_flag(const Reached& reached, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const CLI::Option* option : reached.command->get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  for (size_t i = reached.used; i < words.size() && words[i] != "--"; ++i) {
    const std::string flag = words[i].substr(0, words[i].find('='));
    if (!is_flag(flag) || std::find(known.begin(), known.end(), flag) != known.end()) continue;
    if (flag[1] != '-') continue;  // -j4 is -j with its value
    return fmt::format("{} has no flag '{}'{}", reached.path, flag, did_you_mean(flag, known));
  }
  return "";
}

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

}  // namespace

std::string parse_error_text(const CLI::App& app, const CLI::ParseError& error,
                             const std::vector<std::string>& words) {
  const Reached reached = follow(app, words);
  const std::vector<std::string> names = names_below(*reached.command);
  const std::string help = fmt::format("see {} --help", reached.path);
  if (!names.empty()) {
    if (reached.used == words.size()) {
      return fmt::format("{} needs one of: {}; {}", reached.path, comma_list(names), help);
    }
    const std::string& word = words[reached.used];
    if (!is_flag(word)) {
      const std::string meant_text = did_you_mean(word, names);
      return fmt::format("{} has no '{}'{} known are: {}; {}", reached.path, word,
                         meant_text.empty() ? ";" : meant_text, comma_list(names), help);
    }
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string flag = unknown_flag(reached, words);
    if (!flag.empty()) return fmt::format("{}{} {}", flag, flag.ends_with('?') ? "" : ";", help);
  }
  return fmt::format("{}; see --help", error.what());
}

int run_program(CLI::App& app, int argc, char** argv, const int& exit_code,
                const std::function<int()>& run) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a full disk: its write fails
  const std::vector<std::string> words = current_words(argc, argv);
  int code = 1;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    code = run ? run() : exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help or version
    fmt::print(stderr, "tutti: {}\n", parse_error_text(app, error, words));
    return 2;
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
