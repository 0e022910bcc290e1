// Which variables of tutti's own environment a command gets.
//
// Variables whose names begin with TUTTI_ are never among them, unless they are named: TUTTI_TOKEN
// is a secret, and the others say how tutti itself is to behave.

#ifndef TUTTI_RUNTIME_COMMAND_ENVIRONMENT_H_
#define TUTTI_RUNTIME_COMMAND_ENVIRONMENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/result.h"

namespace tutti {

struct EnvironmentRule {
  enum class From : uint8_t {
    user,    // everything else: a user runs commands in their own shell
    server,  // is_usual() alone: what a server was started with is not for its clients
  };
  From from = From::user;
  std::vector<std::string> also{};  // names
};

// PATH, HOME, LANG and the like: what programs need to run as usual, and no secrets.
bool is_usual(std::string_view name);

// "NAME=text", as Process takes it.
std::vector<std::string> environment_by(const EnvironmentRule& rule);

// Fails (invalid_input) if one is not a name, or is TUTTI_TOKEN.
Result<void> check_names(const std::vector<std::string>& names);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_COMMAND_ENVIRONMENT_H_
