// Divides device time among the clients of a machine in proportion to their weights, by start-time
// fair queueing. Docs: docs/adr/0024-sharing.md.
//
// A client's virtual time is the device time that its ops took or, while they are on a device, are
// expected to take, divided by its weight. The client whose virtual time is least goes next. The
// system's virtual time grows by device time over the sum of the weights of clients with open jobs:
// a client that comes starts there, and one that could not use its share is owed at most what it
// missed in one window.
//
// A client may also have a quota: device time in any window. Times are those of one clock of the
// caller's; one before the latest counts as the latest. Any thread may call.

#ifndef TUTTI_PLAN_WORLD_CLIENT_SHARES_H_
#define TUTTI_PLAN_WORLD_CLIENT_SHARES_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tutti/base/mutex.h"
#include "tutti/base/time.h"

namespace tutti {

struct ShareRule {
  double weight = 1;
  // Device time that it may have in any `quota_window`; kNever: as much as there is.
  Duration quota = kNever;
  Duration quota_window = std::chrono::seconds(60);
};

struct ShareRules {
  bool divided =
      false;          // false: device time is counted by client, and no client goes before another
  ShareRule usual{};  // of clients that are not named
  std::vector<std::pair<std::string, ShareRule>> named{};
  Duration window = std::chrono::seconds(10);
};

// What a job in the world owes and uses. Kept by the caller, changed by ClientShares.
struct JobAccount {
  int32_t client = -1;  // none: the job is not counted
  Duration work_left{0};
  bool placed = false;
};

struct ClientShare {
  std::string name;
  double weight = 1;
  int64_t open_jobs = 0;
  Duration used_total{0};                  // device time
  std::vector<Duration> used_by_device{};  // by ClientShares::devices(); shorter: 0
  Duration used_in_window{0};              // of ShareRules::window
  double share = 0;                        // of all device time in that window
  double entitled = 0;                     // its weight over those of all clients with open jobs
  Duration quota = kNever;
  Duration quota_window{0};
  Duration quota_used{0};
  Duration quota_free_in{0};  // how long its quota keeps it waiting; 0: it does not
};

class ClientShares {
 public:
  ClientShares() : ClientShares(ShareRules{}) {}
  explicit ClientShares(ShareRules rules);

  // Clients keep what they used.
  void set_rules(ShareRules rules);
  // Device time is of devices of these names from now on, by their number. Those of before stay.
  void set_devices(const std::vector<std::string>& names);
  // All that there ever were.
  std::vector<std::string> devices() const;
  bool divides() const;

  // The number of the client of that name; it is made if there is none.
  int32_t client(const std::string& name);

  // A client has one open job more or fewer.
  void job_opened(int32_t client, Duration now);
  void job_closed(int32_t client);

  // A job with that much work gets a place; it has left.
  JobAccount enter(int32_t client, Duration work);
  void leave(JobAccount& account);

  // An op was given to a device; it did not start after all; it has ended. `least` is its part of
  // the work of its job.
  void given(const JobAccount& account, Duration expected);
  void taken_back(const JobAccount& account, Duration expected);
  void ended(JobAccount& account, int32_t device, Duration expected, Duration least, Duration taken,
             Duration now);

  // Clients with open jobs, within their quota, the one that goes next first: by virtual time; with
  // `places`, by virtual time and the work that their jobs have left.
  void order(Duration now, bool places, std::vector<int32_t>& clients);
  // Whether its jobs may be held by a quota, and how many jobs of such clients have a place.
  bool has_quota(int32_t client) const;
  int64_t placed_with_quota() const;
  // When the first of the clients that order() left out may be in it again; kNever: there is none.
  Duration next_change(Duration now) const;

  Duration latest() const;
  std::string name(int32_t client) const;
  ClientShare share(int32_t client, Duration now) const;
  std::vector<ClientShare> shares(Duration now) const;

 private:
  // Sums over a sliding window, to a fortieth of it.
  class Window {
   public:
    void add(Duration time, Duration now, Duration window);
    Duration sum(Duration now, Duration window) const;
    // When the sum will be below the limit if nothing is added.
    Duration below_at(Duration limit, Duration now, Duration window) const;
    // The same times, summed up in parts of another window.
    Window in_parts_of(Duration other, Duration now, Duration window) const;

   private:
    static constexpr int64_t kParts = 40;
    static int64_t part_of(Duration time, Duration window) {
      return time.count() / (window.count() / kParts + 1);
    }
    std::array<Duration, kParts + 1> parts_{};
    std::array<int64_t, kParts + 1> numbers_{};
  };
  struct Client {
    std::string name;
    ShareRule rule;
    int64_t open_jobs = 0;
    double virtual_time = 0;  // of what has ended
    Duration expected{0};     // of what was given
    Duration work_left{0};    // of jobs that have a place
    int64_t placed = 0;       // jobs that have a place
    Duration used{0};
    std::vector<Duration> by_device{};
    Window recent{};
    Window for_quota{};
    bool was_held = false;  // by its quota
  };

  const ShareRule& rule_of(const std::string& name) const
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  double weights() const TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  Duration quota_used(const Client& client, Duration now) const;
  bool is_held(const Client& client, Duration now) const;
  void change_window(Duration before) TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  void limit_debts(Duration now) TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));
  ClientShare share_of(const Client& client, Duration now) const
      TUTTI_THREAD_ATTRIBUTE(requires_capability(mutex_));

  mutable Mutex mutex_;
  ShareRules rules_ GUARDED_BY(mutex_);
  std::vector<Client> clients_ GUARDED_BY(mutex_);
  std::vector<std::string> devices_ GUARDED_BY(mutex_);  // all that there ever were
  std::vector<size_t> place_of_ GUARDED_BY(mutex_);      // in devices_, by a device's number now
  Duration latest_ GUARDED_BY(mutex_){0};
  double virtual_time_ GUARDED_BY(mutex_) = 0;  // the system's
  // What the system's was up to a window ago, by parts of it.
  static constexpr int64_t kMarks = 16;
  std::array<double, kMarks> marks_ GUARDED_BY(mutex_){};
  int64_t last_mark_ GUARDED_BY(mutex_) = 0;
  Window recent_ GUARDED_BY(mutex_);
};

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_CLIENT_SHARES_H_
