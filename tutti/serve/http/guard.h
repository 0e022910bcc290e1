// The Guard authenticates requests before their bodies are read.
//
// - If tokens are set up, every request needs one, except for the empty page, its script,
//   /healthz and /readyz.
// - A foreign page that is open in a browser on this computer may not use the server: requests
//   under a foreign name (DNS rebinding) and requests that change something from a foreign origin
//   are refused.

#ifndef TUTTI_SERVE_HTTP_GUARD_H_
#define TUTTI_SERVE_HTTP_GUARD_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/serve/http/server.h"
#include "tutti/serve/http/tokens.h"

namespace tutti {

class Guard {
 public:
  // `names` are those under which the server is known besides its addresses and "localhost".
  Guard(std::shared_ptr<const TokenStore> tokens, std::vector<std::string> names)
      : tokens_(std::move(tokens)), names_(std::move(names)) {}
  // One token for all clients; empty: none is needed.
  Guard(std::string token, std::vector<std::string> names)
      : Guard(std::make_shared<const TokenStore>(Tokens::single(std::move(token))),
              std::move(names)) {}

  // A request is trusted if it has a token, or if none is needed.
  Admission admit(const HttpHead& head) const;

 private:
  bool knows_name(std::string_view host) const;

  std::shared_ptr<const TokenStore> tokens_;
  std::vector<std::string> names_;
};

}  // namespace tutti

#endif  // TUTTI_SERVE_HTTP_GUARD_H_
