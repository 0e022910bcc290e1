// The Guard says who may come in, before a request's body is read.
//
// - Whoever has a token set up asks it of everybody, but for the page's bare frame and /healthz.
// - A page of somebody else's, open in a browser on this computer, may not use the server: requests
//   under a foreign name (DNS rebinding) and requests that change something from a foreign origin
//   are turned away.

#ifndef TUTTI_SERVE_GUARD_H_
#define TUTTI_SERVE_GUARD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/serve/http/message.h"

namespace tutti {

class Guard {
 public:
  // An empty token: nobody is asked for one. `names` are those under which the server is known
  // besides its addresses and "localhost".
  Guard(std::string token, std::vector<std::string> names)
      : token_(std::move(token)), names_(std::move(names)) {}

  // None: it may come in.
  std::optional<HttpReply> admit(const HttpHead& head) const;

 private:
  bool knows_name(std::string_view host) const;

  std::string token_;
  std::vector<std::string> names_;
};

// Compares in a time that depends on the length of `given` alone.
bool is_same_secret(std::string_view given, std::string_view secret);

// The token in a file, or in the environment variable TUTTI_TOKEN if `path` is empty; empty if
// neither is there. Fails (invalid_input) if it has not 16 to 512 letters, digits and signs.
Result<std::string> load_token(const std::string& path);

}  // namespace tutti

#endif  // TUTTI_SERVE_GUARD_H_
