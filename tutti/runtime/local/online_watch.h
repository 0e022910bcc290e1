// What a policy of a real run may be told in addition to State: what started, ended and came where,
// as it happens; and how it is asked at a time of its own though nothing happens. For policies that
// hold ops back until their time has come, such as tutti/runtime/arriving.

#ifndef TUTTI_RUNTIME_LOCAL_ONLINE_WATCH_H_
#define TUTTI_RUNTIME_LOCAL_ONLINE_WATCH_H_

#include <optional>

#include "tutti/base/id.h"
#include "tutti/base/result.h"
#include "tutti/base/time.h"

namespace tutti {

// Calls come from any thread, but one at a time and never while the policy is asked; their times
// are those of the run's clock and never go back.
class OnlineWatch {
 public:
  virtual ~OnlineWatch() = default;

  // An op that was placed has its operands and a slot; it has ended.
  virtual void started(OpId op, Duration now) = 0;
  virtual void finished(OpId op, Duration now) = 0;
  // A transfer has ended.
  virtual void arrived(ValueId value, MemoryId memory, Duration now) = 0;

  // The policy is about to be asked, until it says "nothing now" or no op is left to decide.
  virtual void asked(Duration now) = 0;
  // Why the run must end, after the policy has said "nothing now".
  virtual std::optional<Error> error() const = 0;
  // When to ask again, whatever happens before; kNever: only if something happens. A time that has
  // passed must be followed by a later one once the policy has been asked.
  virtual Duration next_time() const = 0;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_LOCAL_ONLINE_WATCH_H_
