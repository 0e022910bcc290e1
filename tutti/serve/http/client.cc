#include "tutti/serve/http/client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "tutti/serve/http/server.h"
#include "tutti/serve/http/sockets.h"

namespace tutti {
namespace {

constexpr size_t kMostReply = size_t{256} << 20;

// The status and Content-Length of a reply's head; none if it is no such thing.
std::optional<std::pair<int, size_t>> read_reply_head(std::string_view head, HttpReply& reply) {
  const auto number = [](std::string_view text) -> std::optional<size_t> {
    size_t value = 0;
    const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || rest == text.data()) return std::nullopt;
    return value;
  };
  if (!head.starts_with("HTTP/1.") || head.size() < 12) return std::nullopt;
  const auto status = number(head.substr(9, 3));
  if (!status) return std::nullopt;
  size_t length = 0;
  while (true) {
    const size_t end = head.find("\r\n");
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 2);
    const std::string_view line = head.substr(0, head.find("\r\n"));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string name(line.substr(0, colon));
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    if (name == "content-length") {
      const auto bytes = number(value);
      if (!bytes || *bytes > kMostReply) return std::nullopt;
      length = *bytes;
    }
    if (name == "content-type") reply.type = value;
    reply.headers.emplace_back(std::move(name), value);
  }
  return std::pair{static_cast<int>(*status), length};
}

}  // namespace

Result<HttpClient> HttpClient::make(const std::string& server, std::string token,
                                    const std::string& ca) {
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kSecure = "https://";
  const bool secure = server.starts_with(kSecure);
  std::string rest = secure                       ? server.substr(kSecure.size())
                     : server.starts_with(kPlain) ? server.substr(kPlain.size())
                                                  : server;
  if (rest.ends_with('/')) rest.pop_back();
  const bool has_port = rest.find(':', rest.find(']') + 1) != std::string::npos;
  const Result<ListenAddress> address =
      parse_address(secure && !has_port && !rest.empty() ? rest + ":443" : rest);
  if (!address || address->host.find_first_of("/@?# ") != std::string::npos) {
    return invalid_input(fmt::format(
        "'{}' is no server, such as http://127.0.0.1:7171 or https://build.example", server));
  }
  if (!secure && !ca.empty()) {
    return invalid_input(fmt::format("--ca is for servers at https://, and this is {}", server));
  }
  HttpClient client;
  client.server_ = std::string(secure ? kSecure : kPlain) + rest;
  client.host_ = address->host;
  client.port_ = address->port;
  client.token_ = std::move(token);
  if (secure) {
    Result<std::unique_ptr<HttpsLink>> link = open_https(client.server_, ca);
    if (!link) return link.error();
    client.https_ = std::move(*link);
  }
  return client;
}

HttpClient::HttpClient(HttpClient&& other) noexcept
    : server_(std::move(other.server_)),
      host_(std::move(other.host_)),
      port_(std::move(other.port_)),
      token_(std::move(other.token_)),
      socket_(std::exchange(other.socket_, -1)),
      https_(std::move(other.https_)) {}

HttpClient::~HttpClient() {
  close();
}

void HttpClient::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

Result<void> HttpClient::connect(std::chrono::milliseconds patience) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host_.c_str(), port_.c_str(), &hints, &found);
  if (code != 0) {
    return failed(fmt::format("there is no server '{}': {}", host_, ::gai_strerror(code)));
  }
  std::string why = "no address";
  for (const addrinfo* info = found; info != nullptr && socket_ < 0; info = info->ai_next) {
    const int made = ::socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                              info->ai_protocol);
    if (made < 0) continue;
    int error = ::connect(made, info->ai_addr, info->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      pollfd one{made, POLLOUT, 0};
      socklen_t size = sizeof error;
      error = ETIMEDOUT;
      if (::poll(&one, 1, static_cast<int>(patience.count())) > 0) {
        ::getsockopt(made, SOL_SOCKET, SO_ERROR, &error, &size);
      }
    }
    if (error == 0) {
      const int on = 1;
      ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      socket_ = made;
    } else {
      why = std::strerror(error);
      ::close(made);
    }
  }
  ::freeaddrinfo(found);
  if (socket_ < 0) {
    return failed(
        fmt::format("no tutti serve answers at {}: {}; start one with 'tutti serve', or "
                    "name another by --server",
                    server_, why));
  }
  return {};
}

std::optional<HttpReply> HttpClient::exchange(const std::string& wire, bool is_head,
                                              std::chrono::milliseconds patience) {
  const auto deadline = SocketClock::now() + patience;
  // A server that turns a request away may answer before it has read it whole.
  const bool sent = send_all(socket_, wire, deadline) == SocketOutcome::good;
  std::string buffer;
  while (true) {
    size_t end = 0;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
      if (receive_some(socket_, buffer, 65536, deadline) != SocketOutcome::good)
        return std::nullopt;
    }
    HttpReply reply;
    const auto head = read_reply_head(std::string_view(buffer).substr(0, end + 2), reply);
    if (!head) return std::nullopt;
    buffer.erase(0, end + 4);
    if (head->first == 100) continue;
    const size_t length = is_head ? 0 : head->second;
    while (buffer.size() < length) {
      if (receive_some(socket_, buffer, length - buffer.size(), deadline) != SocketOutcome::good) {
        return std::nullopt;
      }
    }
    reply.status = head->first;
    reply.body = buffer.substr(0, length);
    for (const auto& [name, value] : reply.headers) {
      if (name == "connection" && value == "close") close();
    }
    if (!sent) close();
    return reply;
  }
}

Result<HttpReply> HttpClient::ask(const std::string& method, const std::string& target,
                                  const std::string& body, std::chrono::milliseconds patience) {
  Pairs headers;
  if (!token_.empty()) headers.emplace_back("Authorization", "Bearer " + token_);
  if (!body.empty() || method == "POST") headers.emplace_back("Content-Type", "application/json");
  if (https_ != nullptr) return https_->ask(method, target, headers, body, patience);
  const bool bare = host_.find(':') == std::string::npos;
  if (!body.empty() || method == "POST") {
    headers.emplace_back("Content-Length", std::to_string(body.size()));
  }
  std::string wire = fmt::format("{} {} HTTP/1.1\r\nHost: {}:{}\r\n", method, target,
                                 bare ? host_ : "[" + host_ + "]", port_);
  for (const auto& [name, value] : headers) wire += name + ": " + value + "\r\n";
  wire += "\r\n" + body;
  // A kept connection may have been closed since; a fresh one is tried once. Not for what must not
  // be done twice: it is unknown whether it was.
  for (const bool again : {socket_ >= 0 && method != "POST", false}) {
    if (socket_ < 0) {
      if (const Result<void> made = connect(patience); !made) return made.error();
    }
    if (auto reply = exchange(wire, method == "HEAD", patience)) return *std::move(reply);
    close();
    if (!again) break;
  }
  return failed(fmt::format("{} ended the connection without an answer; ask again", server_));
}

}  // namespace tutti
