#include "tutti/serve/http/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "tutti/serve/http/sockets.h"

namespace tutti {
namespace {

struct FreeInfo {
  void operator()(addrinfo* info) const { ::freeaddrinfo(info); }
};

Result<std::unique_ptr<addrinfo, FreeInfo>> resolved(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (code != 0) {
    return invalid_input(
        fmt::format("there is no address '{}': {}", address.host, ::gai_strerror(code)));
  }
  return std::unique_ptr<addrinfo, FreeInfo>(found);
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  }
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
  }
  return false;
}

int port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return address.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port)
             : ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// A socket that is closed with bytes unread would take the reply back from the client. So it is
// told that nothing more comes, and what it still sends is read for a moment.
void close_gently(int socket) {
  ::shutdown(socket, SHUT_WR);
  const auto deadline = SocketClock::now() + std::chrono::seconds(1);
  constexpr size_t kMost = size_t{4} << 20;
  std::string ignored;
  for (size_t total = 0; total < kMost; total += ignored.size()) {
    ignored.clear();
    if (receive_some(socket, ignored, kMost, deadline) != SocketOutcome::good) return;
  }
}

}  // namespace

Result<ListenAddress> parse_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  const bool has_port = colon != std::string::npos && colon + 1 < text.size() &&
                        text.find_first_not_of("0123456789", colon + 1) == std::string::npos &&
                        text.size() - colon <= 6 && std::stoi(text.substr(colon + 1)) <= 65535;
  std::string host = has_port ? text.substr(0, colon) : "";
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string::npos) {
    host.clear();
  }
  if (host.empty()) {
    return invalid_input(
        fmt::format("'{}' is no address to listen at, such as 127.0.0.1:7171 or [::1]:7171", text));
  }
  return ListenAddress{host, text.substr(colon + 1)};
}

Result<bool> is_loopback(const ListenAddress& address) {
  const auto found = resolved(address);
  if (!found) return found.error();
  for (const addrinfo* info = found->get(); info != nullptr; info = info->ai_next) {
    if (!is_loopback(info->ai_addr)) return false;
  }
  return true;
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(const ListenAddress& address,
                                                     const HttpLimits& limits,
                                                     HttpHandler& handler) {
  std::unique_ptr<HttpServer> server(new HttpServer(limits, handler));
  if (const Result<void> listening = server->listen(address); !listening) return listening.error();
  server->acceptor_ = std::thread([raw = server.get()] { raw->accept_all(); });
  return server;
}

Result<void> HttpServer::listen(const ListenAddress& address) {
  const auto found = resolved(address);
  if (!found) return found.error();
  const addrinfo* info = found->get();
  listening_ = ::socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                        info->ai_protocol);
  const int on = 1;
  if (listening_ >= 0) ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  constexpr int kBacklog = 1024;
  if (listening_ < 0 || ::bind(listening_, info->ai_addr, info->ai_addrlen) != 0 ||
      ::listen(listening_, kBacklog) != 0 || ::pipe2(wake_, O_CLOEXEC) != 0) {
    return invalid_input(fmt::format("cannot listen at {}:{}: {}; name another by --listen",
                                     address.host, address.port, std::strerror(errno)));
  }
  port_ = port_of(listening_);
  return {};
}

HttpServer::~HttpServer() {
  stop();
  for (const int file : {listening_, wake_[0], wake_[1]}) {
    if (file >= 0) ::close(file);
  }
}

void HttpServer::stop() {
  if (stopping_.exchange(true) || !acceptor_.joinable()) return;
  const char byte = 0;
  while (::write(wake_[1], &byte, 1) < 0 && errno == EINTR) {
  }
  acceptor_.join();
  MutexLock lock(mutex_);
  // Whoever waits for a request gets none; replies can still be written.
  for (const int socket : sockets_) ::shutdown(socket, SHUT_RD);
  while (!sockets_.empty()) all_closed_.wait(mutex_);
}

void HttpServer::accept_all() {
  while (!stopping_.load()) {
    pollfd both[2] = {{listening_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (::poll(both, 2, -1) < 0 && errno != EINTR) return;
    if (both[1].revents != 0) return;
    if (both[0].revents == 0) continue;
    const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket >= 0) {
      take(socket);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // Out of file descriptors: it would be asked again at once, in vain.
      pollfd stop{wake_[0], POLLIN, 0};
      ::poll(&stop, 1, 50);
    }
  }
}

void HttpServer::take(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto turn_away = [&] {
    turned_away_.fetch_add(1);
    HttpReply reply = refusal(503, "too many connections; try again in a second");
    reply.headers.emplace_back("Retry-After", "1");
    const std::string wire = to_wire(reply, /*keep_alive=*/false, /*without_body=*/false);
    send_all(socket, wire, SocketClock::now());
    ::shutdown(socket, SHUT_WR);
    std::string ignored;  // what it has sent so far
    receive_some(socket, ignored, kMostHeadBytes, SocketClock::now());
    ::close(socket);
  };
  if (open_connections_.load() >= limits_.connections) return turn_away();
  {
    MutexLock lock(mutex_);
    sockets_.insert(socket);
    open_connections_.fetch_add(1);
  }
  const auto forget = [this, socket] {
    MutexLock lock(mutex_);
    sockets_.erase(socket);
    open_connections_.fetch_sub(1);
    ::close(socket);
    all_closed_.notify_all();
  };
  try {
    std::thread([this, socket, forget] {
      serve(socket);
      forget();
    }).detach();                     // stop() waits until it has forgotten its socket
  } catch (const std::exception&) {  // no more threads
    forget();
  }
}

void HttpServer::serve(int socket) {
  std::string buffer;
  try {
    while (!stopping_.load() && serve_one(socket, buffer)) {
    }
  } catch (const std::exception&) {
    // Memory ran out, here or in the handler: this connection ends, the others go on.
  }
}

HttpReply HttpServer::answer(const HttpRequest& request) {
  try {
    return handler_.answer(request);
  } catch (const std::exception& error) {  // memory ran out
    return refusal(500, one_line(error.what()));
  }
}

bool HttpServer::reserve_body(int64_t bytes) {
  if (body_bytes_.fetch_add(bytes) + bytes <= limits_.body_bytes) return true;
  body_bytes_.fetch_sub(bytes);
  return false;
}

// True if the connection can be used for another request.
bool HttpServer::serve_one(int socket, std::string& buffer) {
  const auto reply_with = [&](const HttpReply& reply, bool keep_alive, bool without_body = false) {
    const std::string wire = to_wire(reply, keep_alive, without_body);
    const bool sent =
        send_all(socket, wire, SocketClock::now() + limits_.reply) == SocketOutcome::good;
    if (sent && !keep_alive) close_gently(socket);
    return sent && keep_alive;
  };
  if (buffer.empty() && receive_some(socket, buffer, kMostHeadBytes,
                                     SocketClock::now() + limits_.idle) != SocketOutcome::good) {
    return false;
  }
  const auto head_deadline = SocketClock::now() + limits_.head;
  size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (buffer.size() >= kMostHeadBytes) {
      return reply_with(refusal(431, "the request's headers are longer than 8192 bytes"), false);
    }
    const SocketOutcome came =
        receive_some(socket, buffer, kMostHeadBytes - buffer.size(), head_deadline);
    if (came == SocketOutcome::late)
      return reply_with(refusal(408, "the request came too slowly"), false);
    if (came == SocketOutcome::closed) return false;
  }
  requests_.fetch_add(1);
  auto read = read_head(std::string_view(buffer).substr(0, end + 4));
  if (const auto* refused = std::get_if<HttpReply>(&read)) return reply_with(*refused, false);
  HttpRequest request{std::move(std::get<HttpHead>(read)), {}};
  HttpHead& head = request.head;
  buffer.erase(0, end + 4);
  const bool without_body = head.method == "HEAD";
  const bool keep_alive = head.keep_alive && !stopping_.load();
  if (const auto refused = handler_.admit(head)) {
    return reply_with(*refused, keep_alive && head.content_length == 0, without_body);
  }
  if (!reserve_body(head.content_length)) {
    HttpReply reply = refusal(503, "too many large requests at once; try again in a second");
    reply.headers.emplace_back("Retry-After", "1");
    return reply_with(reply, false);
  }
  struct GiveBack {
    std::atomic<int64_t>& all;
    int64_t own;
    ~GiveBack() { all.fetch_sub(own); }
  } const give_back{body_bytes_, head.content_length};
  const auto body_deadline = SocketClock::now() + limits_.body;
  const auto length = static_cast<size_t>(head.content_length);
  if (head.expects_continue && buffer.size() < length &&
      send_all(socket, "HTTP/1.1 100 Continue\r\n\r\n", body_deadline) != SocketOutcome::good) {
    return false;
  }
  while (buffer.size() < length) {
    const SocketOutcome came = receive_some(socket, buffer, length - buffer.size(), body_deadline);
    if (came == SocketOutcome::late)
      return reply_with(refusal(408, "the body came too slowly"), false);
    if (came == SocketOutcome::closed) return false;
  }
  request.body = buffer.substr(0, length);
  buffer.erase(0, length);
  return reply_with(answer(request), keep_alive, without_body);
}

}  // namespace tutti
