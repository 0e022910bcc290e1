// What a viewer of a trace file shows must be what the judge reads: the names, times and lanes of
// an event say the same as its "args". For tutti/trace/file/read.cc alone.

#ifndef TUTTI_TRACE_FILE_DISPLAY_H_
#define TUTTI_TRACE_FILE_DISPLAY_H_

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/document.h"
#include "tutti/base/time.h"
#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

class DisplayCheck {
 public:
  DisplayCheck(std::string file, const Problem& problem)
      : file_(std::move(file)), problem_(problem) {}

  // Each looks at one event. `shown` is the event, the other what its arguments say.
  void op(const Document& shown, const OpSpan& span);
  void transfer(const Document& shown, const TransferSpan& span);
  void placed(const Document& shown, const PlacedAt& placed);
  void pause(const Document& shown, const Pause& pause);
  // Of another category: one more channel of a transfer, the name of a lane, or foreign.
  void other(const Document& shown, std::string_view category);

  // To be asked when all events were seen: the first contradiction, with file and line.
  std::optional<Error> contradiction(const Trace& trace);
  // An event of tutti that lacks a name, a time or a lane, so that what viewers show is not known.
  const std::optional<Error>& incomplete() const { return incomplete_; }
  // Events that are none of tutti's: a viewer shows them, the judge does not look at them.
  int64_t foreign() const { return foreign_; }
  // Processes and, for devices, threads that events are shown in and that the file gives no name.
  int64_t unnamed_lanes() const;

 private:
  struct Expected {
    std::string name;
    std::vector<int32_t> processes;  // one of these
    std::optional<int32_t> thread;   // none: any
    Duration start;
    std::optional<Duration> finish;  // none: no span, but an instant
  };
  // A transfer, shown again on a further channel.
  struct ShownAgain {
    std::string name;
    int32_t process;
    Duration start;
    Duration finish;
    int line;
  };

  void compare(const Document& shown, const Expected& expected);
  void compare_text(const Document& shown, std::string_view key, std::string_view expected);
  void compare_time(const Document& shown, std::string_view key, Duration expected);
  void compare_lane(const Document& shown, const Expected& expected);
  void read_channel(const Document& shown);
  // False: it is none that tutti writes.
  bool read_lane_name(const Document& shown);
  void read_process_name(int32_t process, const Document& name);
  bool read_slot_name(int32_t process, const Document* tid, const Document& name);
  const Document* find(const Document& shown, std::string_view key, Document::Kind kind);
  void contradict(const Document& where, const std::string& sentence);
  void check_shown_again(const Trace& trace);

  std::string file_;
  const Problem& problem_;
  std::vector<ShownAgain> again_;
  std::optional<Error> contradiction_;
  std::optional<Error> incomplete_;
  int64_t foreign_ = 0;
  // Process and thread; kWholeProcess for the process itself.
  using Lane = std::pair<int32_t, int32_t>;
  static constexpr int32_t kWholeProcess = -1;
  std::set<Lane> used_;
  std::set<Lane> named_;
};

}  // namespace tutti

#endif  // TUTTI_TRACE_FILE_DISPLAY_H_
