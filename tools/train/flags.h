// What the flags of `tutti train` are held to.

#ifndef TUTTI_TOOLS_TRAIN_FLAGS_H_
#define TUTTI_TOOLS_TRAIN_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>

namespace tutti {

inline CLI::Validator names_a_folder() {
  return CLI::Validator(
      [](std::string& text) {
        return text.empty() ? std::string("must name a folder, and is empty") : std::string();
      },
      "FOLDER");
}

}  // namespace tutti

#endif  // TUTTI_TOOLS_TRAIN_FLAGS_H_
