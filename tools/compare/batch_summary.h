// What an experiment shows: each policy against a baseline, over all graphs and machines.

#ifndef TUTTI_TOOLS_COMPARE_BATCH_SUMMARY_H_
#define TUTTI_TOOLS_COMPARE_BATCH_SUMMARY_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/compare/samples.h"

namespace tutti {

// A pair is a graph on a machine. The figure of a policy on a pair is its mean makespan over seeds
// and runs; ratios of it are independent of how long the pair takes.
struct PolicySummary {
  std::string policy{};
  int pairs = 0;    // in which it has a plan
  int refused = 0;  // in which it has none, for any seed
  // Its mean makespan divided by the baseline's, over the pairs in which both have plans: the
  // geometric mean, with 95 % by Student's t on the logarithms; no interval for one pair.
  std::optional<double> ratio{};
  std::optional<double> ratio_low{};
  std::optional<double> ratio_high{};
  std::optional<double> worst_ratio{};
  int better = 0;  // pairs in which it is faster than the baseline
  int worse = 0;
  // Mean over all pairs: 1 is the fastest; policies that tie share their ranks, and those without a
  // plan share the last ones.
  double mean_rank = 0;
  int best = 0;                      // pairs in which no policy is faster
  std::optional<double> mean_gap{};  // to the lower bound, over pairs that have one
};

struct BatchSummary {
  std::string baseline;
  int pairs = 0;
  std::vector<PolicySummary> policies{};  // by mean rank
};

// Of those samples; `policies` are all that took part. The baseline is one of them.
BatchSummary summarise_batch(const std::vector<Sample>& samples,
                             const std::vector<std::string>& policies, const std::string& baseline);

std::string batch_table(const BatchSummary& summary);

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMPARE_BATCH_SUMMARY_H_
