// Reading and writing a socket with deadlines, for server and client.

#ifndef TUTTI_SERVE_HTTP_SOCKETS_H_
#define TUTTI_SERVE_HTTP_SOCKETS_H_

#include <chrono>
#include <string>
#include <string_view>

namespace tutti {

using SocketClock = std::chrono::steady_clock;

// Failures are told apart only as far as callers treat them differently.
enum class SocketOutcome { good, closed, late };

// Appends what has come, at most `most` bytes, and waits for the first of it.
SocketOutcome receive_some(int socket, std::string& buffer, size_t most,
                           SocketClock::time_point deadline);
SocketOutcome send_all(int socket, std::string_view bytes, SocketClock::time_point deadline);

}  // namespace tutti

#endif  // TUTTI_SERVE_HTTP_SOCKETS_H_
