// A small HTTP/1.1 server: one thread for each connection, up to a limit; every wait has a
// deadline, every size a limit; a connection that exceeds one gets an error reply and is closed.
//
// If there are too many connections, untrusted ones are closed first, the oldest first; then
// idle ones; then streams; then those whose answer waits for something; then those whose body has
// come to a stand. So many silent or
// slow connections do not keep out a client that the handler trusts. Memory for bodies is counted
// as they come, not as they are announced. Of streams there are only a few at once: one more ends
// the oldest.
//
// It knows nothing of jobs: it reads requests and asks an HttpHandler.

#ifndef TUTTI_SERVE_HTTP_SERVER_H_
#define TUTTI_SERVE_HTTP_SERVER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "tutti/base/mutex.h"
#include "tutti/base/result.h"
#include "tutti/serve/http/message.h"

namespace tutti {

// What becomes of a request, by its head.
struct Admission {
  std::optional<HttpReply> refused{};  // the answer; the body is not read then
  bool trusted = false;                // its connection is not closed for others that are not
  std::string client{};                // the client's name, if known
};

// Called by many threads at once.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Whether the body is worth reading.
  virtual Admission admit(const HttpHead& head) = 0;
  virtual HttpReply answer(const HttpRequest& request) = 0;
};

struct HttpLimits {
  int connections = 256;
  int untrusted_of_an_address = 64;           // connections; one more closes the oldest
  int streams = 32;                           // replies that have no end
  int64_t body_bytes = int64_t{256} << 20;    // of all requests being read or answered together
  std::chrono::milliseconds first{5'000};     // from connecting to the first byte
  std::chrono::milliseconds idle{30'000};     // between two requests of a connection
  std::chrono::milliseconds head{10'000};     // to send a request up to its body
  std::chrono::milliseconds body{60'000};     // to send the body
  std::chrono::milliseconds pause{10'000};    // between two pieces of it
  std::chrono::milliseconds reply{30'000};    // to take the reply, or a piece of a stream
  std::chrono::milliseconds silence{15'000};  // of a stream; then a comment is sent
};

// "127.0.0.1:7171", "[::1]:7171", "localhost:7171"
struct ListenAddress {
  std::string host;
  std::string port;
};
Result<ListenAddress> parse_address(const std::string& text);
// True if only this computer can reach it.
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
  // Connections that were closed to make room for others.
  int64_t made_room_total() const { return made_room_.load(); }

  // Takes no more connections and requests, and returns when those at hand are answered. Clients
  // that are slow to take their answers get two seconds for it.
  void stop();

 private:
  // What a connection's thread is at.
  // `held`: its answer waits for something, such as the end of a job.
  enum class Doing : uint8_t { waiting, reading_body, answering, held, replying, streaming };
  struct Connection {
    int socket = -1;
    std::string address{};
    bool trusted = false;
    Doing doing = Doing::waiting;
    std::chrono::steady_clock::time_point since{};  // it does that, or had the last piece of a body
    bool closing = false;                           // another connection has its place
  };
  using Connections = std::map<int64_t, Connection>;  // in the order in which they came

  HttpServer(const HttpLimits& limits, HttpHandler& handler) : limits_(limits), handler_(handler) {}
  Result<void> listen(const ListenAddress& address);
  void accept_all();
  void take(int socket, std::string address);
  void turn_away(int socket);
  // A place among the connections; none if there is no room, and none can be made.
  std::optional<int64_t> place_for(int socket, std::string address);
  // Connections that were closed to make room have a thread until it notices, within microseconds
  // on a quiet computer: waits for that while there are too many. False if there still are.
  bool let_closed_ones_go() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  Connections::iterator oldest_untrusted(const std::string* address)
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  Connections::iterator oldest_that(Doing doing, std::chrono::milliseconds at_least)
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  bool close_one(Connections::iterator connection)
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void forget(int64_t number);
  void note(int64_t number, Doing doing);
  void trust(int64_t number);

  void serve(int64_t number, int socket);
  bool serve_one(int64_t number, int socket, std::string& buffer, bool is_first);
  bool read_body(int64_t number, int socket, std::string& buffer, const HttpHead& head,
                 int64_t& reserved, std::optional<HttpReply>& refused);
  bool reply_with(int socket, const HttpReply& reply, bool keep_alive, bool without_body = false);
  void stream(int64_t number, int socket, const HttpReply& reply);
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
  std::atomic<int64_t> made_room_{0};
  Mutex mutex_;
  std::condition_variable_any closed_;
  int64_t came_ GUARDED_BY(mutex_) = 0;
  Connections connections_ GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace tutti

#endif  // TUTTI_SERVE_HTTP_SERVER_H_
