// Beliefs for `tutti report --belief`: the network of a machine before anything was read, after
// this host's counters were, or while jobs run in a simulated cluster, where the truth is known.

#ifndef TUTTI_TOOLS_BELIEF_SOURCE_H_
#define TUTTI_TOOLS_BELIEF_SOURCE_H_

#include <string>

#include "tutti/base/file/tensor_file.h"
#include "tutti/base/result.h"
#include "tutti/report/belief_view.h"

namespace tutti {

struct BeliefQuestion {
  std::string told;     // prior, host or sim
  std::string machine;  // empty: this host; in simulation that of tutti cluster
  std::string costs;    // of the simulated jobs; empty: those of tutti cluster
  // Learnt constants, and the name of their file; null: as learning starts.
  const TensorFile* model = nullptr;
  std::string model_name{};
  uint64_t seed = 1;
};

// Fails with a sentence: a machine or costs that cannot be read, constants of another machine, jobs
// that the machine cannot run.
Result<ReportedBelief> find_belief(const BeliefQuestion& question);

}  // namespace tutti

#endif  // TUTTI_TOOLS_BELIEF_SOURCE_H_
