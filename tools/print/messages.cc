#include "tools/print/messages.h"

#include <fmt/format.h>

#include "tools/print/color.h"

namespace tutti {

void print_warning(const std::string& text) {
  fmt::print(stderr, "tutti: {} {}\n", colored("warning:", Color::yellow, stderr), text);
}

void print_note(const std::string& text) {
  if (!text.empty()) fmt::print(stderr, "tutti: {}\n", text);
}

void print_error(const std::string& text) {
  fmt::print(stderr, "{} {}\n", colored("tutti:", Color::red, stderr), text);
}

int report(const Error& error) {
  print_error(error.message);
  switch (error.kind) {
    case Error::Kind::invalid_input:
      return 2;
    case Error::Kind::infeasible:
      return 3;
    case Error::Kind::out_of_time:
    case Error::Kind::failed:
      return 1;
  }
  return 1;
}

}  // namespace tutti
