#include "tutti/serve/http/sockets.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace tutti {
namespace {

// True once the socket can be read or written, or has failed; false if it is too late.
bool wait_for(int socket, short what, SocketClock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - SocketClock::now() + std::chrono::microseconds(999));
    pollfd one{socket, what, 0};
    const int ready =
        ::poll(&one, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30)));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;  // the next call says what is wrong
  }
}

}  // namespace

SocketOutcome receive_some(int socket, std::string& buffer, size_t most,
                           SocketClock::time_point deadline) {
  char bytes[16384];
  while (true) {
    if (!wait_for(socket, POLLIN, deadline)) return SocketOutcome::late;
    const ssize_t count = ::recv(socket, bytes, std::min(most, sizeof bytes), MSG_DONTWAIT);
    if (count > 0) {
      buffer.append(bytes, static_cast<size_t>(count));
      return SocketOutcome::good;
    }
    if (count == 0) return SocketOutcome::closed;
    if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) return SocketOutcome::closed;
  }
}

SocketOutcome send_all(int socket, std::string_view bytes, SocketClock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return SocketOutcome::closed;
    if (!wait_for(socket, POLLOUT, deadline)) return SocketOutcome::late;
  }
  return SocketOutcome::good;
}

}  // namespace tutti
