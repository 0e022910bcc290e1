// The last step of measuring. Ops and transfers are measured for themselves, and yet a plan's ops
// meet what a probe's do not: values that were just copied, copies that run on the same cores,
// copies of others on the same link. Here plans of graphs that were measured are run as a whole. Of
// each kind of op on each kind of device it is noted what it took against what probes said, and a
// line is laid through that: so many times as long, and so much more. Then a few factors on top of
// it are fitted so that the simulator foretells the makespans: one for all ops on each kind of
// device, one for the bytes of transfers and one for their latency.

#ifndef TUTTI_CALIBRATE_TUNE_H_
#define TUTTI_CALIBRATE_TUNE_H_

#include <functional>
#include <span>
#include <string>

#include "tutti/base/stop.h"
#include "tutti/calibrate/knowledge.h"
#include "tutti/runtime/runtime.h"

namespace tutti {

struct TuneOptions {
  int plans = 12;   // of each graph
  int repeats = 3;  // of each plan; the median counts
  uint64_t seed = 1;
  Stop stop{};                                              // fewer repeats, then fewer plans
  std::function<void(int64_t run, int64_t of)> progress{};  // called before each run
};

struct Tuned {
  int plans = 0;  // that could be run
  int64_t runs = 0;
  double error_before = 0;  // mean of |simulated / real - 1|
  double error_after = 0;
};

// Runs plans and sets the scales of the knowledge to those that foretell them best: anew, as they
// were, or none. With fewer than four plans they stay. Fails if costs cannot be made of the
// knowledge. A plan that cannot be run is left out.
Result<Tuned> tune(const Machine& machine, std::span<const Graph* const> graphs, Runtime& runtime,
                   Knowledge& knowledge, const TuneOptions& options);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_TUNE_H_
