// What the flags of `tutti train` are held to.

#ifndef TUTTI_TOOLS_TRAIN_FLAGS_H_
#define TUTTI_TOOLS_TRAIN_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>

namespace tutti {

// CLI::Range lets NaN through.
inline CLI::Validator finite_share() {
  return CLI::Validator(
      [](std::string& text) {
        double number = -1;
        const bool good = CLI::detail::lexical_cast(text, number) && number >= 0 && number <= 1e6;
        return good ? std::string() : "must be a number from 0 to 1000000";
      },
      "SHARE");
}

inline CLI::Validator names_a_folder() {
  return CLI::Validator(
      [](std::string& text) {
        return text.empty() ? std::string("must name a folder, and is empty") : std::string();
      },
      "FOLDER");
}

}  // namespace tutti

#endif  // TUTTI_TOOLS_TRAIN_FLAGS_H_
