// The last step of measuring. Probes measure ops and transfers in isolation. Ops of a plan also
// meet values that were just copied, copies that run on the same cores, and other copies on the
// same link. So plans of the measured graphs are run as a whole. For each kind of op on each kind
// of device, a line (factor and offset) is fitted to the times in plans against the times in
// probes. Then a few more factors are fitted so that the simulator predicts the makespans: one for
// all ops on each kind of device, one for the bytes of transfers and one for their latency.

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

// Runs plans and sets the scales of the knowledge to those that predict them best: new ones, the
// old ones, or none. With fewer than four plans they stay. Fails if costs cannot be made of the
// knowledge. A plan that cannot be run is left out.
Result<Tuned> tune(const Machine& machine, std::span<const Graph* const> graphs, Runtime& runtime,
                   Knowledge& knowledge, const TuneOptions& options);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_TUNE_H_
