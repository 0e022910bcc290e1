// HTTP/1.1 requests and replies as plain values, and the strict reader of what stands before a
// request's body. It takes less than the standard allows: no chunked or compressed bodies, no
// folded lines, no other target than a path. What it does not take is answered, never guessed at.
//
// Why our own: docs/adr/0019-serve.md.

#ifndef TUTTI_SERVE_HTTP_MESSAGE_H_
#define TUTTI_SERVE_HTTP_MESSAGE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tutti {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct HttpHead {
  std::string method;          // "GET"
  std::string path;            // decoded; begins with '/'
  Pairs query{};               // decoded, in order
  Pairs headers{};             // names in lower case
  int64_t content_length = 0;  // 0 where none was given
  bool keep_alive = true;
  bool expects_continue = false;

  // The first of that name; null if there is none.
  const std::string* header(std::string_view lower_case_name) const;
  const std::string* parameter(std::string_view name) const;
};

struct HttpRequest {
  HttpHead head;
  std::string body;
  std::string client{};  // the name that belongs to its token
  // True once the client has gone, or the server stops. To be asked now and then by an answer that
  // waits for something; empty: not known.
  std::function<bool()> gone{};
};

// The body of a reply that comes piece by piece and has no end of its own.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // The next piece; empty if there is none within `patience`; nothing if no more come. Called by
  // one thread.
  virtual std::optional<std::string> next(std::chrono::milliseconds patience) = 0;
};

struct HttpReply {
  int status = 200;
  std::string body{};
  std::string type = "application/json";
  Pairs headers{};
  std::shared_ptr<HttpStream> stream{};  // follows the body; the connection ends with it
};

// {"error": sentence}
HttpReply refusal(int status, const std::string& sentence);

inline constexpr size_t kMostHeadBytes = 8192;
inline constexpr size_t kMostHeaders = 64;

// `text` ends with the empty line. Gives the head, or what to answer instead; the connection cannot
// be used further then.
std::variant<HttpHead, HttpReply> read_head(std::string_view text);

// The reply as it goes over the wire. HEAD gets no body. That of a stream has no length.
std::string to_wire(const HttpReply& reply, bool keep_alive, bool without_body);

// For a path or a query: everything but letters, digits, '.', '_', '-' and '~' as %XX.
std::string percent_encoded(std::string_view text);

}  // namespace tutti

#endif  // TUTTI_SERVE_HTTP_MESSAGE_H_
