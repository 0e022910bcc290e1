#include "tutti/search/exact/in_child.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

namespace tutti {
namespace {

[[noreturn]] void work_and_exit(const std::function<std::vector<double>()>& work, int pipe) {
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches us both; the parent decides
  const std::vector<double> numbers = work();
  const char* bytes = reinterpret_cast<const char*>(numbers.data());
  size_t left = numbers.size() * sizeof(double);
  while (left > 0) {
    const ssize_t written = ::write(pipe, bytes, left);
    if (written <= 0) ::_exit(1);
    bytes += written;
    left -= static_cast<size_t>(written);
  }
  ::_exit(0);
}

// All that comes, or none if it was stopped first.
std::optional<std::string> read_until(int pipe, const Stop& stop) {
  constexpr int kMillisecondsBetweenLooks = 10;
  std::string bytes;
  std::array<char, 65536> buffer{};
  while (!stop.now()) {
    pollfd ready{.fd = pipe, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kMillisecondsBetweenLooks) <= 0) continue;
    const ssize_t count = ::read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<size_t>(count));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<double>> run_in_child(const std::function<std::vector<double>()>& work,
                                                const Stop& stop) {
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) work_and_exit(work, ends[1]);
  ::close(ends[1]);
  const std::optional<std::string> bytes = child < 0 ? std::nullopt : read_until(ends[0], stop);
  ::close(ends[0]);
  if (child < 0) return std::nullopt;
  if (!bytes) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!bytes || status != 0) return std::nullopt;
  std::vector<double> numbers(bytes->size() / sizeof(double));
  std::memcpy(numbers.data(), bytes->data(), numbers.size() * sizeof(double));
  return numbers;
}

}  // namespace tutti
