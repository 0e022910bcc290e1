#include "tutti/serve/http/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "tutti/serve/http/sockets.h"

namespace tutti {
namespace {

// How long a client that is slow to take its answer delays the end of the server.
constexpr std::chrono::seconds kFarewell{2};

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

// The peer's address, without the port.
std::string address_text(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void* const bytes =
      address.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  ::inet_ntop(address.ss_family, bytes, text, sizeof text);
  return text;
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

// True if the other side is gone, or this one has shut it down.
bool is_closed(int socket) {
  char byte = 0;
  const ssize_t got = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
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
  // Threads that wait for a request get none; replies can still be written.
  for (const auto& [number, connection] : connections_) ::shutdown(connection.socket, SHUT_RD);
  constexpr std::chrono::milliseconds kLook{100};
  const auto began = SocketClock::now();
  while (!connections_.empty()) {
    closed_.wait_until(mutex_, SocketClock::now() + kLook);
    for (const auto& [number, one] : connections_) {
      const bool writes = one.doing == Doing::replying || one.doing == Doing::streaming;
      if (!writes || SocketClock::now() - std::max(began, one.since) < kFarewell) continue;
      ::shutdown(one.socket, SHUT_RDWR);
    }
  }
}

void HttpServer::accept_all() {
  while (!stopping_.load()) {
    pollfd both[2] = {{listening_, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (::poll(both, 2, -1) < 0 && errno != EINTR) return;
    if (both[1].revents != 0) return;
    if (both[0].revents == 0) continue;
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    const int socket =
        ::accept4(listening_, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC);
    if (socket >= 0) {
      take(socket, address_text(from));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      // Out of file descriptors: it would be asked again at once, without effect.
      pollfd stop{wake_[0], POLLIN, 0};
      ::poll(&stop, 1, 50);
    }
  }
}

void HttpServer::turn_away(int socket) {
  turned_away_.fetch_add(1);
  HttpReply reply = refusal(503, "too many connections; try again in a second");
  reply.headers.emplace_back("Retry-After", "1");
  const std::string wire = to_wire(reply, /*keep_alive=*/false, /*without_body=*/false);
  send_all(socket, wire, SocketClock::now());
  ::shutdown(socket, SHUT_WR);
  std::string ignored;  // what it has sent so far
  receive_some(socket, ignored, kMostHeadBytes, SocketClock::now());
  ::close(socket);
}

void HttpServer::take(int socket, std::string address) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const std::optional<int64_t> number = place_for(socket, std::move(address));
  if (!number) return turn_away(socket);
  try {
    std::thread([this, socket, number = *number] {
      serve(number, socket);
      forget(number);
    }).detach();                     // stop() waits until it has been forgotten
  } catch (const std::exception&) {  // no more threads
    forget(*number);
  }
}

std::optional<int64_t> HttpServer::place_for(int socket, std::string address) {
  MutexLock lock(mutex_);
  if (!let_closed_ones_go()) return std::nullopt;
  int placed = 0;
  int untrusted = 0;
  for (const auto& [number, other] : connections_) {
    if (other.closing) continue;
    ++placed;
    if (!other.trusted && other.address == address) ++untrusted;
  }
  if (untrusted >= limits_.untrusted_of_an_address) {
    close_one(oldest_untrusted(&address));
  } else if (placed >= limits_.connections) {
    constexpr std::chrono::milliseconds kStands{1000};
    const bool room =
        close_one(oldest_untrusted(nullptr)) || close_one(oldest_that(Doing::waiting, {})) ||
        close_one(oldest_that(Doing::streaming, {})) || close_one(oldest_that(Doing::held, {})) ||
        close_one(oldest_that(Doing::reading_body, kStands));
    if (!room) return std::nullopt;
  }
  const int64_t number = ++came_;
  connections_.emplace(
      number,
      Connection{.socket = socket, .address = std::move(address), .since = SocketClock::now()});
  open_connections_.store(static_cast<int>(connections_.size()));
  return number;
}

bool HttpServer::let_closed_ones_go() {
  const auto deadline = SocketClock::now() + std::chrono::seconds(1);
  while (true) {
    const auto closing =
        std::count_if(connections_.begin(), connections_.end(),
                      [](const auto& numbered) { return numbered.second.closing; });
    if (closing < limits_.connections) return true;
    if (stopping_.load() || SocketClock::now() >= deadline) return false;
    closed_.wait_until(mutex_, deadline);
  }
}

HttpServer::Connections::iterator HttpServer::oldest_untrusted(const std::string* address) {
  auto found = connections_.begin();
  while (found != connections_.end() &&
         (found->second.closing || found->second.trusted ||
          (address != nullptr && found->second.address != *address))) {
    ++found;
  }
  return found;
}

HttpServer::Connections::iterator HttpServer::oldest_that(Doing doing,
                                                          std::chrono::milliseconds at_least) {
  const auto latest = SocketClock::now() - at_least;
  auto oldest = connections_.end();
  for (auto it = connections_.begin(); it != connections_.end(); ++it) {
    const Connection& one = it->second;
    if (one.closing || one.doing != doing || one.since > latest) continue;
    if (oldest == connections_.end() || one.since < oldest->second.since) oldest = it;
  }
  return oldest;
}

// Its thread finds the connection closed, whatever it waits for.
bool HttpServer::close_one(Connections::iterator connection) {
  if (connection == connections_.end()) return false;
  connection->second.closing = true;
  ::shutdown(connection->second.socket, SHUT_RDWR);
  made_room_.fetch_add(1);
  return true;
}

void HttpServer::forget(int64_t number) {
  MutexLock lock(mutex_);
  const auto found = connections_.find(number);
  ::close(found->second.socket);
  connections_.erase(found);
  open_connections_.store(static_cast<int>(connections_.size()));
  closed_.notify_all();
}

void HttpServer::note(int64_t number, Doing doing) {
  MutexLock lock(mutex_);
  Connection& one = connections_.find(number)->second;
  one.doing = doing;
  one.since = SocketClock::now();
}

void HttpServer::trust(int64_t number) {
  MutexLock lock(mutex_);
  connections_.find(number)->second.trusted = true;
}

void HttpServer::serve(int64_t number, int socket) {
  std::string buffer;
  try {
    bool is_first = true;
    while (!stopping_.load() && serve_one(number, socket, buffer, is_first)) is_first = false;
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

// Where there is no more memory for bodies, those that stand give theirs back.
bool HttpServer::reserve_body(int64_t bytes) {
  const auto deadline = SocketClock::now() + std::chrono::seconds(1);
  while (body_bytes_.fetch_add(bytes) + bytes > limits_.body_bytes) {
    body_bytes_.fetch_sub(bytes);
    MutexLock lock(mutex_);
    const bool closes = close_one(oldest_that(Doing::reading_body, std::chrono::seconds(1)));
    const bool some_close =
        closes || std::any_of(connections_.begin(), connections_.end(),
                              [](const auto& one) { return one.second.closing; });
    if (!some_close || SocketClock::now() >= deadline) return false;
    closed_.wait_until(mutex_, deadline);
  }
  return true;
}

// True if the connection can be used for another request.
bool HttpServer::reply_with(int socket, const HttpReply& reply, bool keep_alive,
                            bool without_body) {
  const std::string wire = to_wire(reply, keep_alive, without_body);
  const bool sent =
      send_all(socket, wire, SocketClock::now() + limits_.reply) == SocketOutcome::good;
  if (sent && !keep_alive) close_gently(socket);
  return sent && keep_alive;
}

// Until the buffer holds all of it. False: the connection is of no use any more, unless there is
// something to refuse it with.
bool HttpServer::read_body(int64_t number, int socket, std::string& buffer, const HttpHead& head,
                           int64_t& reserved, std::optional<HttpReply>& refused) {
  const auto length = static_cast<size_t>(head.content_length);
  const auto deadline = SocketClock::now() + limits_.body;
  const auto no_room = [&] {
    refused = refusal(503, "too many large requests at once; try again in a second");
    refused->headers.emplace_back("Retry-After", "1");
    return false;
  };
  if (head.content_length > limits_.body_bytes) return no_room();
  if (head.expects_continue && buffer.size() < length &&
      send_all(socket, "HTTP/1.1 100 Continue\r\n\r\n", deadline) != SocketOutcome::good) {
    return false;
  }
  while (true) {
    note(number, Doing::reading_body);
    const auto come = static_cast<int64_t>(std::min(buffer.size(), length));
    if (come > reserved) {
      if (!reserve_body(come - reserved)) return no_room();
      reserved = come;
    }
    if (buffer.size() >= length) return true;
    const SocketOutcome came = receive_some(socket, buffer, length - buffer.size(),
                                            std::min(deadline, SocketClock::now() + limits_.pause));
    if (came == SocketOutcome::late) refused = refusal(408, "the body came too slowly");
    if (came != SocketOutcome::good) return false;
  }
}

bool HttpServer::serve_one(int64_t number, int socket, std::string& buffer, bool is_first) {
  note(number, Doing::waiting);
  const auto patience = is_first ? limits_.first : limits_.idle;
  if (buffer.empty() && receive_some(socket, buffer, kMostHeadBytes,
                                     SocketClock::now() + patience) != SocketOutcome::good) {
    return false;
  }
  const auto head_deadline = SocketClock::now() + limits_.head;
  size_t end = 0;
  while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (buffer.size() >= kMostHeadBytes) {
      return reply_with(socket, refusal(431, "the request's headers are longer than 8192 bytes"),
                        false);
    }
    const SocketOutcome came =
        receive_some(socket, buffer, kMostHeadBytes - buffer.size(), head_deadline);
    if (came == SocketOutcome::late)
      return reply_with(socket, refusal(408, "the request came too slowly"), false);
    if (came == SocketOutcome::closed) return false;
  }
  requests_.fetch_add(1);
  auto read = read_head(std::string_view(buffer).substr(0, end + 4));
  if (const auto* refused = std::get_if<HttpReply>(&read)) {
    return reply_with(socket, *refused, false);
  }
  HttpRequest request{std::move(std::get<HttpHead>(read)), {}, {}, {}};
  HttpHead& head = request.head;
  buffer.erase(0, end + 4);
  const bool without_body = head.method == "HEAD";
  const bool keep_alive = head.keep_alive && !stopping_.load();
  Admission admission = handler_.admit(head);
  if (admission.trusted) trust(number);
  if (admission.refused) {
    return reply_with(socket, *admission.refused, keep_alive && head.content_length == 0,
                      without_body);
  }
  request.client = std::move(admission.client);
  struct GiveBack {
    std::atomic<int64_t>& all;
    int64_t own = 0;
    ~GiveBack() { all.fetch_sub(own); }
  } give_back{body_bytes_};
  std::optional<HttpReply> refused;
  if (!read_body(number, socket, buffer, head, give_back.own, refused)) {
    return refused && reply_with(socket, *refused, false);
  }
  note(number, Doing::answering);
  request.body = buffer.substr(0, static_cast<size_t>(head.content_length));
  buffer.erase(0, static_cast<size_t>(head.content_length));
  bool held = false;
  request.gone = [this, number, socket, &held] {
    if (!std::exchange(held, true)) note(number, Doing::held);
    return stopping_.load() || is_closed(socket);
  };
  const HttpReply reply = answer(request);
  note(number, Doing::replying);
  if (reply.stream == nullptr) return reply_with(socket, reply, keep_alive, without_body);
  if (without_body) return reply_with(socket, reply, /*keep_alive=*/false, without_body);
  stream(number, socket, reply);
  return false;
}

// Until the stream or the server ends, the client goes, or another stream needs the place.
void HttpServer::stream(int64_t number, int socket, const HttpReply& reply) {
  note(number, Doing::streaming);
  {
    MutexLock lock(mutex_);
    const auto streams =
        std::count_if(connections_.begin(), connections_.end(), [](const auto& numbered) {
          return numbered.second.doing == Doing::streaming && !numbered.second.closing;
        });
    if (streams > limits_.streams) close_one(oldest_that(Doing::streaming, {}));
  }
  constexpr std::chrono::milliseconds kLook{200};  // whether the client is there, or it is to stop
  std::string piece = to_wire(reply, /*keep_alive=*/false, /*without_body=*/false);
  auto last = SocketClock::now();
  while (!stopping_.load()) {
    if (piece.empty() && SocketClock::now() - last >= limits_.silence) piece = ":\n\n";
    if (!piece.empty()) {
      last = SocketClock::now();
      if (send_all(socket, piece, last + limits_.reply) != SocketOutcome::good) return;
    }
    if (is_closed(socket)) return;
    std::optional<std::string> next = reply.stream->next(kLook);
    if (!next) break;
    piece = std::move(*next);
  }
  close_gently(socket);
}

}  // namespace tutti
