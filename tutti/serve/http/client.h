// Asks a server one thing at a time, over a connection that it keeps while the server does.
//
// Plain HTTP, as `tutti serve` speaks it, or TLS, as a proxy in front of it does (https.h). Not for
// several threads at once.

#ifndef TUTTI_SERVE_HTTP_CLIENT_H_
#define TUTTI_SERVE_HTTP_CLIENT_H_

#include <chrono>
#include <memory>
#include <string>

#include "tutti/base/result.h"
#include "tutti/serve/http/https.h"
#include "tutti/serve/http/message.h"

namespace tutti {

class HttpClient {
 public:
  // "http://127.0.0.1:7171", "https://build.example", "https://build.example:8443". Fails
  // (invalid_input) if it is no such address, or as open_https() does, which `ca` is for. The token
  // goes with every request unless it is empty.
  static Result<HttpClient> make(const std::string& server, std::string token,
                                 const std::string& ca = {});
  HttpClient(HttpClient&& other) noexcept;
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient();

  // `target` is encoded: "/v1/jobs?id=a". Fails (failed) with a sentence if no answer comes;
  // then it is unknown whether the server got the request.
  Result<HttpReply> ask(const std::string& method, const std::string& target,
                        const std::string& body = {},
                        std::chrono::milliseconds patience = std::chrono::minutes(2));

 private:
  HttpClient() = default;
  Result<void> connect(std::chrono::milliseconds patience);
  void close();
  // None: the connection is gone.
  std::optional<HttpReply> exchange(const std::string& wire, bool is_head,
                                    std::chrono::milliseconds patience);

  std::string server_;  // as given
  std::string host_;
  std::string port_;
  std::string token_;
  int socket_ = -1;
  std::unique_ptr<HttpsLink> https_{};  // does all the rest if it is there
};

}  // namespace tutti

#endif  // TUTTI_SERVE_HTTP_CLIENT_H_
