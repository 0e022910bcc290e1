#include "tools/print/color.h"

#include <unistd.h>

#include <cstdlib>

namespace tutti {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

const char* code_of(Color color) {
  switch (color) {
    case Color::red:
      return "\033[31m";
    case Color::yellow:
      return "\033[33m";
    case Color::green:
      return "\033[32m";
    case Color::bold:
      return "\033[1m";
  }
  return "";
}

}  // namespace

bool uses_color(std::FILE* stream) {
  const std::string_view wish = environment("TUTTI_COLOR");
  if (wish == "always" || wish == "never") return wish == "always";
  if (!environment("NO_COLOR").empty()) return false;
  const std::string_view forced = environment("CLICOLOR_FORCE");
  if (!forced.empty() && forced != "0") return true;
  return ::isatty(::fileno(stream)) != 0 && environment("TERM") != "dumb";
}

std::string colored(std::string_view text, Color color, std::FILE* stream) {
  if (text.empty() || !uses_color(stream)) return std::string(text);
  const bool ends = text.back() == '\n';
  if (ends) text.remove_suffix(1);
  return code_of(color) + std::string(text) + "\033[0m" + (ends ? "\n" : "");
}

}  // namespace tutti
