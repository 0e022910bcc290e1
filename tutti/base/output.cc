#include "tutti/base/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tutti {

Result<Output> Output::open(const std::string& path) {
  Output output;
  output.path_ = path == "-" ? "standard output" : path;
  if (path == "-") {
    output.file_ = stdout;
    return output;
  }
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return invalid_input(path + ": is a folder; name a file inside it");
  }
  // Devices and pipes (/dev/null, /dev/stdout) cannot be replaced, only written to.
  if (exists && !S_ISREG(info.st_mode)) {
    output.file_ = std::fopen(path.c_str(), "wb");
  } else {
    output.temporary_ = fmt::format("{}.{}.tmp", path, ::getpid());
    output.file_ = std::fopen(output.temporary_.c_str(), "wb");
  }
  if (output.file_ == nullptr) {
    output.temporary_.clear();
    return invalid_input(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  return output;
}

Output::Output(Output&& other) noexcept
    : path_(std::move(other.path_)),
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
    good = std::rename(temporary_.c_str(), path_.c_str()) == 0;
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
