#include "tutti/serve/run/job_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "tutti/base/file/folder_lock.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

constexpr size_t kLongestIdentity = 4096;

std::string identity_file(const std::string& folder) {
  return folder + "/job.json";
}

bool is_there(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

Error folder_error(const std::string& path, const char* what) {
  return failed(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

// None if it is no regular file or too long: commands write into these folders too, and a pipe must
// not block.
std::optional<std::string> short_text(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat info {};
  std::string text(kLongestIdentity, '\0');
  const bool regular = ::fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  const ssize_t bytes = regular ? ::read(file, text.data(), text.size()) : -1;
  ::close(file);
  if (bytes < 0 || bytes == static_cast<ssize_t>(kLongestIdentity)) return std::nullopt;
  text.resize(static_cast<size_t>(bytes));
  return text;
}

bool sync_path(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool good = file >= 0 && ::fsync(file) == 0;
  if (file >= 0) ::close(file);
  return good;
}

// On disk when it returns, whole or not at all.
Result<void> write_durably(const std::string& folder, const std::string& path,
                           std::string_view text) {
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());
  const int file =
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return folder_error(fresh, "cannot be written");
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file) == 0;
  ::close(file);
  if (!written || ::rename(fresh.c_str(), path.c_str()) != 0 || !sync_path(folder)) {
    return folder_error(path, "cannot be written");
  }
  return {};
}

// A server that was killed after it had made a job's folder and before that had its identity leaves
// this: no command has run.
bool was_never_used(const std::string& path) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.path().filename() != "job.json.new") return false;
  }
  return !error;
}

// Its new name.
Result<std::string> move_aside(const std::string& path) {
  for (int i = 1;; ++i) {
    std::string aside = fmt::format("{}.old-{}", path, i);
    if (is_there(aside)) continue;
    if (::rename(path.c_str(), aside.c_str()) == 0) return aside;
    return folder_error(path, "cannot be moved aside");
  }
}

// Only its owner may read it, also where an earlier version made it otherwise.
Result<void> make_runs_folder(const std::string& path) {
  if (Result<void> made = make_private_folder(path); !made) return made;
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return folder_error(path, "cannot be read");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) == 0) return {};
  if (::chmod(path.c_str(), 0700) != 0) return folder_error(path, "cannot be closed to others");
  return {};
}

}  // namespace

std::string to_text(const JobIdentity& identity) {
  JsonWriter json(/*inline_depth=*/0);
  json.open_object().field("format", "tutti-job").field("schema_version", 1);
  json.field("journal", identity.journal).field("job", identity.job);
  json.field("number", identity.number).field("accepted_unix_ms", identity.accepted_ms);
  json.field("digest", fingerprint_text(identity.digest));
  json.close_object();
  return json.take();
}

Result<std::string> prepare_job_folder(const std::string& path, const JobIdentity& identity,
                                       Unnamed unnamed) {
  const std::string runs = std::filesystem::path(path).parent_path().string();
  if (const Result<void> made = make_runs_folder(runs); !made) return made.error();
  const std::string name = identity_file(path);
  const std::string wanted = to_text(identity);
  std::string note;
  if (is_there(path) && !was_never_used(path)) {
    if (is_folder_of(path, identity)) return note;
    const bool take_over = unnamed == Unnamed::taken_over && is_unnamed_job_folder(path);
    if (!take_over) {
      const bool named = is_there(name);
      const Result<std::string> aside = move_aside(path);
      if (!aside) return aside.error();
      note =
          fmt::format("{}: {}; it is now {}, and job '{}' starts from the beginning", path,
                      named ? "is another job's folder" : "does not say which job's folder it is",
                      *aside, identity.job);
    }
  }
  if (const Result<void> made = make_private_folder(path); !made) return made.error();
  if (const Result<void> kept = write_durably(path, name, wanted); !kept) return kept.error();
  if (!sync_path(runs)) return folder_error(runs, "cannot be written");
  return note;
}

bool is_folder_of(const std::string& path, const JobIdentity& identity) {
  return is_there(identity_file(path)) && short_text(identity_file(path)) == to_text(identity);
}

bool is_unnamed_job_folder(const std::string& path) {
  return is_there(path) && !is_there(identity_file(path)) && !was_never_used(path);
}

}  // namespace tutti
