#include "tools/print/completion_scripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace tutti {
namespace {

// The first clause of a description, on one line.
std::string in_short(std::string text) {
  constexpr size_t kLongest = 90;
  std::replace(text.begin(), text.end(), '\n', ' ');
  text = text.substr(0, std::min(text.find("; "), text.find(". ")));
  if (text.size() <= kLongest) return text;
  return text.substr(0, text.rfind(' ', kLongest)) + " ...";
}

std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string result;
  for (const char c : text) c == what ? result += by : result += c;
  return result;
}

// In single quotes, as bash and zsh read them.
std::string shell_quoted(std::string_view text) {
  return "'" + replaced(text, '\'', R"('\'')") + "'";
}

// In single quotes, as fish reads them.
std::string fish_quoted(std::string_view text) {
  return "'" + replaced(replaced(text, '\\', R"(\\)"), '\'', R"(\')") + "'";
}

// 'graph'|'graph make': what lengthens the path that was typed.
std::string paths_as_pattern(const std::vector<CompletedCommand>& commands,
                             std::string_view between) {
  std::vector<std::string> paths;
  for (const CompletedCommand& command : commands) {
    if (!command.path.empty()) paths.push_back("'" + command.path + "'");
  }
  return fmt::format("{}", fmt::join(paths, between));
}

// The branches of a case on "$at $previous": which values a flag has.
std::string value_cases(const std::vector<CompletedCommand>& commands) {
  std::string cases;
  for (const CompletedCommand& command : commands) {
    for (const CompletedWord& flag : command.flags) {
      if (flag.values.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names) {
        patterns.push_back(shell_quoted(command.path + " " + name));
      }
      cases += fmt::format("    {}) values={} ;;\n", fmt::join(patterns, "|"),
                           shell_quoted(fmt::format("{}", fmt::join(flag.values, " "))));
    }
  }
  return cases;
}

// "--machine:Machine: a preset", as _describe of zsh reads it: the first colon ends the name.
std::string described(const CompletedWord& word, const std::string& name) {
  return shell_quoted(replaced(name, ':', "\\:") + ":" + in_short(word.what));
}

}  // namespace

std::string bash_completion(const std::vector<CompletedCommand>& commands) {
  std::string cases;
  for (const CompletedCommand& command : commands) {
    std::vector<std::string> words = command.values;
    for (const CompletedWord& below : command.below) words.push_back(below.names.front());
    for (const CompletedWord& flag : command.flags) {
      words.insert(words.end(), flag.names.begin(), flag.names.end());
    }
    cases += fmt::format("    '{}') words='{}' ;;\n", command.path, fmt::join(words, " "));
  }
  return fmt::format(R"(# Completion of tutti for bash: source <(tutti completion bash)
_tutti() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local at='' words='' values='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${{at:+$at }}${{COMP_WORDS[i]}}" in
      {}) at=${{at:+$at }}${{COMP_WORDS[i]}} ;;
    esac
  done
  case $at in
{}  esac
  case "$at $previous" in
{}  esac
  COMPREPLY=($(compgen -W "${{values:-$words}}" -- "$current"))
  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}}
complete -o filenames -F _tutti tutti
)",
                     paths_as_pattern(commands, "|"), cases, value_cases(commands));
}

std::string zsh_completion(const std::vector<CompletedCommand>& commands) {
  std::string cases;
  for (const CompletedCommand& command : commands) {
    std::vector<std::string> below;
    for (const CompletedWord& word : command.below) {
      below.push_back(described(word, word.names.front()));
    }
    std::vector<std::string> flags;
    for (const CompletedWord& word : command.flags) {
      for (const std::string& name : word.names) flags.push_back(described(word, name));
    }
    cases += fmt::format("    '{}')\n      below=({})\n      flags=({})\n      values={} ;;\n",
                         command.path, fmt::join(below, " "), fmt::join(flags, " "),
                         shell_quoted(fmt::format("{}", fmt::join(command.values, " "))));
  }
  return fmt::format(R"(#compdef tutti
# Completion of tutti for zsh: source <(tutti completion zsh), or as _tutti in a folder of $fpath.
_tutti() {{
  local at='' values='' i
  local -a below flags
  for ((i = 2; i < CURRENT; ++i)); do
    case "${{at:+$at }}${{words[i]}}" in
      {}) at="${{at:+$at }}${{words[i]}}" ;;
    esac
  done
  case $at in
{}  esac
  case "$at ${{words[CURRENT-1]}}" in
{}  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o flag flags
  elif (( $#below )); then
    _describe command below
  else
    [[ -z $values ]] || compadd -- ${{=values}}
    _files
  fi
}}
if [[ $funcstack[1] == _tutti ]]; then _tutti "$@"; else compdef _tutti tutti; fi
)",
                     paths_as_pattern(commands, "|"), cases, value_cases(commands));
}

std::string fish_completion(const std::vector<CompletedCommand>& commands) {
  std::string lines;
  for (const CompletedCommand& command : commands) {
    const std::string here = fmt::format("complete -c tutti -n '__tutti_at \"{}\"'", command.path);
    const std::string values = fmt::format("{}", fmt::join(command.values, " "));
    if (!values.empty()) {
      lines += fmt::format("{} -f -a {}\n", here, fish_quoted(values));
    } else if (!command.below.empty()) {
      lines += here + " -f\n";
    }
    for (const CompletedWord& below : command.below) {
      lines += fmt::format("{} -a {} -d {}\n", here, below.names.front(),
                           fish_quoted(in_short(below.what)));
    }
    for (const CompletedWord& flag : command.flags) {
      lines += here;
      for (const std::string& name : flag.names) {
        lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (flag.takes_value) lines += " -r";
      if (!flag.values.empty()) {
        lines += " -a " + fish_quoted(fmt::format("{}", fmt::join(flag.values, " ")));
      }
      lines += fmt::format(" -d {}\n", fish_quoted(in_short(flag.what)));
    }
  }
  return fmt::format(R"(# Completion of tutti for fish: tutti completion fish | source
function __tutti_path
  set -l path ''
  for word in (commandline -opc)[2..]
    switch (string trim -- "$path $word")
      case {}
        set path (string trim -- "$path $word")
    end
  end
  echo $path
end
function __tutti_at
  test (__tutti_path) = "$argv[1]"
end
{})",
                     paths_as_pattern(commands, " "), lines);
}

}  // namespace tutti
