#include "tutti/runtime/sim/jobs/arrivals.h"

#include "test/fuzz/harness.h"
#include "test/fuzz/promises.h"

namespace tutti::fuzz {

bool fuzz_arrivals(const uint8_t* data, size_t size) {
  Source source = source_of(data, size);
  const Result<std::vector<NamedArrival>> arrivals = read_arrivals(source);
  if (!arrivals) {
    expect_refusal(arrivals.error());
    return false;
  }
  Duration last{0};
  for (const NamedArrival& arrival : *arrivals) {
    TUTTI_CHECK(arrival.time >= last && !arrival.job.empty());
    last = arrival.time;
  }
  return true;
}

}  // namespace tutti::fuzz
