#include "tutti/base/file/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tutti {
namespace {

// Where writing to that name would end, link by link; the last may lead to nothing yet. Requires
// that they lead in no circle.
std::string without_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel's
  std::filesystem::path at = path;
  std::error_code failure;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(at, failure);
    if (failure) return at.string();
    at = at.parent_path() / next;
  }
  return path;
}

// A new file in the target's folder, with the mode and owner of `old` if there is one; its name
// goes to `name`. A file that has that name already is left over from a process with our id,
// belongs to another thread, or was placed there as a trap: it is left alone.
int open_next_to(const std::string& target, const struct stat* old, std::string& name) {
  constexpr int kMostTries = 100;
  int file = -1;
  for (int i = 0; i < kMostTries && file < 0; ++i) {
    name = i == 0 ? fmt::format("{}.{}.tmp", target, ::getpid())
                  : fmt::format("{}.{}.{}.tmp", target, ::getpid(), i);
    file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                  old != nullptr ? 0600 : 0666);
    if (file < 0 && errno != EEXIST) break;
  }
  if (file < 0 || old == nullptr) return file;
  // Only root may give files away; others keep what they write.
  [[maybe_unused]] const int given = ::fchown(file, old->st_uid, old->st_gid);
  if (::fchmod(file, old->st_mode & 07777) == 0) return file;
  const int error = errno;
  ::close(file);
  ::unlink(name.c_str());
  errno = error;
  return -1;
}

}  // namespace

Result<Output> Output::open(const std::string& path) {
  Output output;
  output.path_ = path == "-" ? "standard output" : path;
  if (path == "-") {
    output.file_ = stdout;
    return output;
  }
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (!exists && errno == ELOOP) {
    return invalid_input(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  if (exists && S_ISDIR(info.st_mode)) {
    return invalid_input(path + ": is a folder; name a file inside it");
  }
  // Devices and pipes (/dev/null, /dev/stdout) cannot be replaced, only written to.
  if (exists && !S_ISREG(info.st_mode)) {
    output.file_ = std::fopen(path.c_str(), "wb");
  } else {
    output.target_ = without_links(path);
    const int file = open_next_to(output.target_, exists ? &info : nullptr, output.temporary_);
    if (file >= 0) output.file_ = ::fdopen(file, "wb");
  }
  if (output.file_ == nullptr) {
    output.temporary_.clear();
    return invalid_input(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  return output;
}

Output::Output(Output&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::exchange(other.file_, nullptr)) {}

Output::~Output() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void Output::write(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file_);
}

Result<void> Output::commit() {
  bool good = std::fflush(file_) == 0 && std::ferror(file_) == 0;
  if (file_ != stdout) {
    good = std::fclose(file_) == 0 && good;
    file_ = nullptr;
  }
  if (good && !temporary_.empty()) {
    good = std::rename(temporary_.c_str(), target_.c_str()) == 0;
    if (good) temporary_.clear();
  }
  if (!good) return failed(fmt::format("{}: writing failed: {}", path_, std::strerror(errno)));
  return {};
}

Result<void> probe_output(const std::string& path) {
  struct stat info {};
  const bool exists = path != "-" && ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) {
    if (::access(path.c_str(), W_OK) == 0) return {};
    return invalid_input(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  const Result<Output> output = Output::open(path);
  if (!output) return output.error();
  return {};
}

bool name_one_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code failure;
  const auto status = std::filesystem::status(a, failure);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return false;
  if (std::filesystem::equivalent(a, b, failure)) return true;
  const auto whole = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, failure), failure);
  };
  return whole(a) == whole(b);
}

Result<void> write_file(const std::string& path, std::string_view text) {
  Result<Output> output = Output::open(path);
  if (!output) return output.error();
  output->write(text);
  return output->commit();
}

}  // namespace tutti
