// The Guard says who may come in, before a request's body is read.
//
// - Whoever has tokens set up asks one of everybody, but for the page's bare frame, /healthz and
//   /readyz.
// - A page of somebody else's, open in a browser on this computer, may not use the server: requests
//   under a foreign name (DNS rebinding) and requests that change something from a foreign origin
//   are turned away.

#ifndef TUTTI_SERVE_GUARD_H_
#define TUTTI_SERVE_GUARD_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/serve/http/server.h"
#include "tutti/serve/tokens.h"

namespace tutti {

class Guard {
 public:
  // `names` are those under which the server is known besides its addresses and "localhost".
  Guard(std::shared_ptr<const TokenStore> tokens, std::vector<std::string> names)
      : tokens_(std::move(tokens)), names_(std::move(names)) {}
  // One token for everybody; empty: nobody is asked for one.
  Guard(std::string token, std::vector<std::string> names)
      : Guard(std::make_shared<const TokenStore>(Tokens::single(std::move(token))),
              std::move(names)) {}

  // Trusted is whoever has shown a token, and everybody where none is asked for.
  Admission admit(const HttpHead& head) const;

 private:
  bool knows_name(std::string_view host) const;

  std::shared_ptr<const TokenStore> tokens_;
  std::vector<std::string> names_;
};

}  // namespace tutti

#endif  // TUTTI_SERVE_GUARD_H_
