// When something that is needed was free (a slot of a device, the channels of a hop), and whether
// the memory that is needed too had room meanwhile.

#ifndef TUTTI_TRACE_CHECK_FREE_TIMES_H_
#define TUTTI_TRACE_CHECK_FREE_TIMES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/plan/intervals.h"
#include "tutti/trace/least_of.h"
#include "tutti/trace/memory.h"

namespace tutti {

class FreeTimes {
 public:
  // `free` must be apart. `memory` is null where no limit is enforced; else it must outlive this.
  FreeTimes(std::vector<Interval> free, const LeastUse* memory);

  // The first free time in `window` at which no more than `most_bytes` of the memory were in use.
  // Takes logarithmic time if there is none.
  std::optional<Duration> first_in(Interval window, int64_t most_bytes) const;

 private:
  std::vector<Interval> free_;
  const LeastUse* memory_;
  LeastOf least_;  // by interval of free_: the least bytes in use
};

}  // namespace tutti

#endif  // TUTTI_TRACE_CHECK_FREE_TIMES_H_
