// The History keeps what is known of jobs that are over, a file each, within limits of number, size
// and age; the oldest go first. A thread of its own writes: a job's end does not wait for it.
//
// It is for people to look at. Nothing in it is promised: a file is not synced, and where jobs end
// faster than they can be written, some are left out and counted.

#ifndef TUTTI_SERVE_HISTORY_HISTORY_H_
#define TUTTI_SERVE_HISTORY_HISTORY_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

#include "tutti/base/mutex.h"
#include "tutti/serve/history/kept_job.h"

namespace tutti {

struct HistoryLimits {
  int64_t jobs = 100'000;
  int64_t bytes = int64_t{1} << 30;
  std::chrono::seconds age = std::chrono::hours(24 * 7);  // since the job ended
  // Left free on the disk, for the journal: without it the server takes no jobs.
  int64_t left_free = int64_t{64} << 20;
};

struct HistoryFigures {
  int64_t jobs = 0;
  int64_t bytes = 0;
  int64_t left_out_total = 0;  // jobs ended too fast, or a file could not be written
  int64_t deleted_total = 0;
};

class History {
 public:
  // Goes on with what is in the folder, which is made if need be. `on_delete` is called with the
  // number of each job whose file is deleted, by the writing thread. Fails (invalid_input) if the
  // folder cannot be made or read.
  static Result<std::unique_ptr<History>> open(const std::string& folder,
                                               const HistoryLimits& limits,
                                               std::function<void(int64_t job)> on_delete = {});
  // Writes what is left.
  ~History();

  // Any thread.
  void keep(EndedJob job);
  // Deletes what there is of a job that is no longer remembered; `on_delete` is called for it.
  void forget(int64_t job);
  // Of that very job. Fails (failed) with a sentence that says why there is none.
  Result<KeptJob> find(const JobFacts& job) const;
  HistoryFigures figures() const;
  // All that was given to keep() is written or left out, and what is forgotten deleted. For tests
  // and for the end.
  void flush();

 private:
  struct File {
    int64_t number = 0;
    int64_t bytes = 0;
    int64_t ended_s = 0;  // since 1970
    int64_t turn = 0;     // in which it was noted
  };

  History(std::string folder, const HistoryLimits& limits,
          std::function<void(int64_t job)> on_delete);
  std::string path_of(int64_t number) const;
  Result<void> read_folder() TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void work();
  void write(const EndedJob& job);
  void note(File file) TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  // Deletes what is too much or too old.
  void trim(int64_t now_s);
  void remove(int64_t number);
  // Deletes the oldest; false: there is none.
  bool remove_oldest();
  // Whether a file of that size leaves the disk enough for the journal. Deletes old ones for it.
  bool make_room(int64_t bytes);

  std::string folder_;
  HistoryLimits limits_;
  std::function<void(int64_t job)> on_delete_;
  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<EndedJob> waiting_ GUARDED_BY(mutex_);
  std::deque<int64_t> forgotten_ GUARDED_BY(mutex_);  // to be deleted
  bool writing_ GUARDED_BY(mutex_) = false;
  bool stops_ GUARDED_BY(mutex_) = false;
  std::deque<File> files_ GUARDED_BY(mutex_);  // the oldest first; some were written again since
  std::unordered_map<int64_t, File> last_of_ GUARDED_BY(mutex_);  // by number
  int64_t turn_ GUARDED_BY(mutex_) = 0;
  HistoryFigures figures_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace tutti

#endif  // TUTTI_SERVE_HISTORY_HISTORY_H_
