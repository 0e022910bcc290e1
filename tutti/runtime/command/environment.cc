#include "tutti/runtime/command/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace tutti {
namespace {

// A name that ends with '*' stands for all that begin so. docs/formats/graph.md lists them too.
constexpr std::array kUsual = {"PATH",
                               "HOME",
                               "USER",
                               "LOGNAME",
                               "SHELL",
                               "TERM",
                               "LANG",
                               "LANGUAGE",
                               "LC_*",
                               "TZ",
                               "TMPDIR",
                               "LD_LIBRARY_PATH",
                               "CUDA_VISIBLE_DEVICES",
                               "CUDA_DEVICE_ORDER",
                               "NVIDIA_VISIBLE_DEVICES",
                               "ROCR_VISIBLE_DEVICES",
                               "OMP_*",
                               "GOMP_*",
                               "KMP_*",
                               "OPENBLAS_NUM_THREADS",
                               "MKL_NUM_THREADS"};

bool fits(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

}  // namespace

bool is_usual(std::string_view name) {
  return std::any_of(kUsual.begin(), kUsual.end(),
                     [&](std::string_view pattern) { return fits(name, pattern); });
}

std::vector<std::string> environment_by(const EnvironmentRule& rule) {
  std::vector<std::string> chosen;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const bool named = std::find(rule.also.begin(), rule.also.end(), name) != rule.also.end();
    const bool given =
        rule.from == EnvironmentRule::From::user ? !name.starts_with("TUTTI_") : is_usual(name);
    if (named || given) chosen.emplace_back(text);
  }
  return chosen;
}

Result<void> check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == "TUTTI_TOKEN") {
      return invalid_input("--env TUTTI_TOKEN: the token is not for commands; leave it out");
    }
    const bool good = !name.empty() && name.find_first_of("= \t\n") == std::string::npos;
    if (!good) {
      return invalid_input(
          fmt::format("--env '{}': must be the name of an environment variable, such as LANG, "
                      "without its text",
                      name));
    }
  }
  return {};
}

}  // namespace tutti
