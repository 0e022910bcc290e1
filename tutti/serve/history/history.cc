#include "tutti/serve/history/history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tutti/base/file/folder_lock.h"

namespace tutti {
namespace {

// Records that wait to be written are in memory.
constexpr size_t kMostWaiting = 256;
// How often files are looked at for their age.
constexpr auto kBetweenTrims = std::chrono::seconds(60);
constexpr int64_t kLongestFile = int64_t{1} << 30;

int64_t seconds_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

// The number of "17.job"; 0 if it is none.
int64_t number_of_file(const std::string& name) {
  int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, number);
  if (read.ec != std::errc{} ||
      std::string_view(read.ptr, static_cast<size_t>(end - read.ptr)) != ".job") {
    return 0;
  }
  return number;
}

bool write_private(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  const int file =
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return false;
  bool good = true;
  while (good && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    good = written > 0;
    if (good) text.remove_prefix(static_cast<size_t>(written));
  }
  good = ::close(file) == 0 && good && ::rename(fresh.c_str(), path.c_str()) == 0;
  if (!good) ::unlink(fresh.c_str());
  return good;
}

}  // namespace

History::History(std::string folder, const HistoryLimits& limits,
                 std::function<void(int64_t job)> on_delete)
    : folder_(std::move(folder)), limits_(limits), on_delete_(std::move(on_delete)) {}

Result<std::unique_ptr<History>> History::open(const std::string& folder,
                                               const HistoryLimits& limits,
                                               std::function<void(int64_t job)> on_delete) {
  if (Result<void> made = make_private_folder(folder); !made) return made.error();
  std::unique_ptr<History> history(new History(folder, limits, std::move(on_delete)));
  {
    MutexLock lock(history->mutex_);
    if (Result<void> read = history->read_folder(); !read) return read.error();
  }
  history->thread_ = std::thread([&self = *history] { self.work(); });
  return history;
}

History::~History() {
  {
    MutexLock lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::string History::path_of(int64_t number) const {
  return fmt::format("{}/{}.job", folder_, number);
}

Result<void> History::read_folder() {
  std::error_code error;
  std::vector<File> found;
  std::filesystem::directory_iterator it(folder_, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string path = it->path().string();
    const std::string name = it->path().filename().string();
    if (name.ends_with(".job.new")) {
      ::unlink(path.c_str());  // of a server that was killed
      continue;
    }
    struct stat info {};
    const int64_t number = number_of_file(name);
    if (number <= 0 || ::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    found.push_back({number, info.st_size, info.st_mtime});
  }
  if (error) {
    return invalid_input(fmt::format("{}: cannot be read: {}", folder_, error.message()));
  }
  std::sort(found.begin(), found.end(), [](const File& a, const File& b) {
    return a.ended_s != b.ended_s ? a.ended_s < b.ended_s : a.number < b.number;
  });
  for (const File& file : found) note(file);
  return {};
}

void History::note(File file) {
  file.turn = ++turn_;
  const auto [known, is_new] = last_of_.try_emplace(file.number);
  figures_.jobs += is_new ? 1 : 0;
  figures_.bytes += file.bytes - known->second.bytes;
  known->second = file;
  files_.push_back(file);
}

void History::keep(EndedJob job) {
  MutexLock lock(mutex_);
  if (waiting_.size() >= kMostWaiting) {
    ++figures_.left_out_total;
    return;
  }
  waiting_.push_back(std::move(job));
  changed_.notify_all();
}

void History::forget(int64_t job) {
  MutexLock lock(mutex_);
  forgotten_.push_back(job);
  changed_.notify_all();
}

void History::flush() {
  MutexLock lock(mutex_);
  while (!waiting_.empty() || !forgotten_.empty() || writing_) changed_.wait(mutex_);
}

HistoryFigures History::figures() const {
  MutexLock lock(mutex_);
  return figures_;
}

void History::work() {
  auto next_trim = std::chrono::steady_clock::now();
  while (true) {
    EndedJob job;
    std::deque<int64_t> forgotten;
    bool there = false;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && forgotten_.empty() && !stops_ &&
             std::chrono::steady_clock::now() < next_trim)
        changed_.wait_until(mutex_, next_trim);
      if (waiting_.empty() && forgotten_.empty() && stops_) return;
      if (!waiting_.empty()) {
        job = std::move(waiting_.front());
        waiting_.pop_front();
        there = writing_ = true;
      }
      writing_ = writing_ || !forgotten_.empty();
      forgotten.swap(forgotten_);
    }
    if (there) write(job);
    for (const int64_t number : forgotten) remove(number);
    if (there || std::chrono::steady_clock::now() >= next_trim) {
      trim(seconds_now());
      if (std::chrono::steady_clock::now() >= next_trim)
        next_trim = std::chrono::steady_clock::now() + kBetweenTrims;
    }
    MutexLock lock(mutex_);
    writing_ = false;
    changed_.notify_all();
  }
}

void History::write(const EndedJob& job) {
  const std::string text = to_file(keep_job(job));
  const bool good = static_cast<int64_t>(text.size()) <= std::min(limits_.bytes, kLongestFile) &&
                    make_room(static_cast<int64_t>(text.size())) &&
                    write_private(path_of(job.facts.number), text);
  MutexLock lock(mutex_);
  if (!good) {
    ++figures_.left_out_total;
    return;
  }
  note({job.facts.number, static_cast<int64_t>(text.size()), seconds_now()});
}

void History::remove(int64_t number) {
  {
    MutexLock lock(mutex_);
    const auto known = last_of_.find(number);
    if (known != last_of_.end()) {
      figures_.bytes -= known->second.bytes;
      --figures_.jobs;
      ++figures_.deleted_total;
      last_of_.erase(known);
    }
  }
  ::unlink(path_of(number).c_str());
  if (on_delete_) on_delete_(number);
}

bool History::remove_oldest() {
  int64_t number = 0;
  {
    MutexLock lock(mutex_);
    while (number == 0) {
      if (files_.empty()) return false;
      const File oldest = files_.front();
      files_.pop_front();
      const auto known = last_of_.find(oldest.number);
      if (known != last_of_.end() && known->second.turn == oldest.turn) number = oldest.number;
    }
  }
  remove(number);
  return true;
}

bool History::make_room(int64_t bytes) {
  do {
    struct statvfs disk {};
    if (::statvfs(folder_.c_str(), &disk) != 0) return true;
    const auto block = static_cast<double>(disk.f_frsize);
    const double free = block * static_cast<double>(disk.f_bavail);
    if (free >= static_cast<double>(bytes) + static_cast<double>(limits_.left_free)) return true;
  } while (remove_oldest());
  return false;
}

void History::trim(int64_t now_s) {
  while (true) {
    int64_t number = 0;
    {
      MutexLock lock(mutex_);
      if (files_.empty()) return;
      const File oldest = files_.front();
      const auto known = last_of_.find(oldest.number);
      // Of a job that was run again the later file counts.
      const bool stale = known == last_of_.end() || known->second.turn != oldest.turn;
      const bool too_much = figures_.jobs > limits_.jobs || figures_.bytes > limits_.bytes ||
                            now_s - oldest.ended_s > limits_.age.count();
      if (!stale && !too_much) return;
      files_.pop_front();
      if (stale) continue;
      number = oldest.number;
    }
    remove(number);
  }
}

Result<KeptJob> History::find(const JobFacts& job) const {
  if (!is_over(job.state)) {
    return failed(fmt::format("job '{}' is {}; its history is written when it is over", job.id,
                              to_text(job.state)));
  }
  const std::string path = path_of(job.number);
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat info {};
  const bool readable = file >= 0 && ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
                        info.st_size <= kLongestFile;
  std::string text;
  if (readable) {
    text.resize(static_cast<size_t>(info.st_size));
    size_t read = 0;
    while (read < text.size()) {
      const ssize_t some = ::read(file, text.data() + read, text.size() - read);
      if (some < 0 && errno == EINTR) continue;
      if (some <= 0) break;
      read += static_cast<size_t>(some);
    }
    text.resize(read);
  }
  if (file >= 0) ::close(file);
  const Error none = failed(fmt::format(
      "nothing is kept of job '{}': it is older than --keep-for, was deleted to keep within "
      "--keep-mib and --keep-jobs, left out because jobs ended too fast or the disk is full, or is "
      "being written",
      job.id));
  if (!readable) return none;
  Result<KeptJob> kept = kept_job_from_file(path, std::move(text));
  if (!kept) return kept.error();
  if (!is_summary_of(kept->summary, job)) return none;
  return kept;
}

}  // namespace tutti
