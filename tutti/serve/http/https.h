// Asks a server over TLS, through libcurl, which is opened when it is first needed: linked, it
// would double the time that every command of tutti takes to start (docs/adr/0019-serve.md).
//
// Not for several threads at once.

#ifndef TUTTI_SERVE_HTTP_HTTPS_H_
#define TUTTI_SERVE_HTTP_HTTPS_H_

#include <chrono>
#include <memory>
#include <string>

#include "tutti/base/result.h"
#include "tutti/serve/http/message.h"

namespace tutti {

class HttpsLink {
 public:
  virtual ~HttpsLink() = default;
  // Fails (failed) with a sentence if no answer comes, or if the server is not the one it says.
  virtual Result<HttpReply> ask(const std::string& method, const std::string& target,
                                const Pairs& headers, const std::string& body,
                                std::chrono::milliseconds patience) = 0;
};

// `server` is "https://host" or "https://host:port". `ca` is a file with the certificates of
// trusted authorities; empty: as curl's CURL_CA_BUNDLE and SSL_CERT_FILE say, or else the system's.
// Fails (invalid_input) with the package to install where there is no libcurl.
Result<std::unique_ptr<HttpsLink>> open_https(const std::string& server, const std::string& ca);

}  // namespace tutti

#endif  // TUTTI_SERVE_HTTP_HTTPS_H_
