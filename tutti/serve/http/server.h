// A small HTTP/1.1 server: one thread for each connection, up to a limit; every wait has a
// deadline, every size a limit, and whoever goes beyond one is told so and cut off.
//
// It knows nothing of jobs: it reads requests and asks an HttpHandler.

#ifndef TUTTI_SERVE_HTTP_SERVER_H_
#define TUTTI_SERVE_HTTP_SERVER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "tutti/base/mutex.h"
#include "tutti/base/result.h"
#include "tutti/serve/http/message.h"

namespace tutti {

// Called by many threads at once.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Whether the body is worth reading. What it returns is the answer; the body is not read then.
  virtual std::optional<HttpReply> admit(const HttpHead& head) = 0;
  virtual HttpReply answer(const HttpRequest& request) = 0;
};

struct HttpLimits {
  int connections = 256;
  int64_t body_bytes = int64_t{256} << 20;  // of all requests being read or answered together
  std::chrono::milliseconds idle{30'000};   // between two requests of a connection
  std::chrono::milliseconds head{10'000};   // to send a request up to its body
  std::chrono::milliseconds body{60'000};   // to send the body
  std::chrono::milliseconds reply{30'000};  // to take the reply
};

// "127.0.0.1:7171", "[::1]:7171", "localhost:7171"
struct ListenAddress {
  std::string host;
  std::string port;
};
Result<ListenAddress> parse_address(const std::string& text);
// True if nobody but this computer can reach it.
Result<bool> is_loopback(const ListenAddress& address);

class HttpServer {
 public:
  // Port 0 is any that is free. Keeps a reference to the handler, and answers from now on. Fails
  // (invalid_input) if it cannot listen there.
  static Result<std::unique_ptr<HttpServer>> open(const ListenAddress& address,
                                                  const HttpLimits& limits, HttpHandler& handler);
  // As stop().
  ~HttpServer();

  int port() const { return port_; }
  int connections() const { return open_connections_.load(); }
  int64_t requests_total() const { return requests_.load(); }
  int64_t turned_away_total() const { return turned_away_.load(); }

  // Takes no more connections and requests, and returns when those at hand are answered.
  void stop();

 private:
  HttpServer(const HttpLimits& limits, HttpHandler& handler) : limits_(limits), handler_(handler) {}
  Result<void> listen(const ListenAddress& address);
  void accept_all();
  void take(int socket);
  void serve(int socket);
  bool serve_one(int socket, std::string& buffer);
  HttpReply answer(const HttpRequest& request);
  bool reserve_body(int64_t bytes);

  HttpLimits limits_;
  HttpHandler& handler_;
  int listening_ = -1;
  int wake_[2] = {-1, -1};  // written to when it stops
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<int> open_connections_{0};
  std::atomic<int64_t> body_bytes_{0};
  std::atomic<int64_t> requests_{0};
  std::atomic<int64_t> turned_away_{0};
  Mutex mutex_;
  std::condition_variable_any all_closed_;
  std::set<int> sockets_ GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace tutti

#endif  // TUTTI_SERVE_HTTP_SERVER_H_
