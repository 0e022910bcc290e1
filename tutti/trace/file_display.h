// What a viewer of a trace file shows must be what the judge reads: names, times and lanes beside
// "args" say the same as "args" does. For tutti/trace/file.cc alone.

#ifndef TUTTI_TRACE_FILE_DISPLAY_H_
#define TUTTI_TRACE_FILE_DISPLAY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/file/document.h"
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
  // An event of ours that lacks a name, a time or a lane, so that nobody knows what viewers show.
  const std::optional<Error>& incomplete() const { return incomplete_; }
  // Events that are none of tutti's: a viewer shows them, the judge does not look at them.
  int64_t foreign() const { return foreign_; }

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
  void read_lane_name(const Document& shown);
  const Document* find(const Document& shown, std::string_view key, Document::Kind kind);
  void contradict(const Document& where, const std::string& sentence);
  void check_shown_again(const Trace& trace);

  std::string file_;
  const Problem& problem_;
  std::vector<ShownAgain> again_;
  std::optional<Error> contradiction_;
  std::optional<Error> incomplete_;
  int64_t foreign_ = 0;
};

}  // namespace tutti

#endif  // TUTTI_TRACE_FILE_DISPLAY_H_
