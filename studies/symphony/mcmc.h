// Full inference, the slow way: Markov chains over all variables that are not observed, one
// variable at a time (Metropolis within Gibbs). It is what Symphony calls "No-Opt" and stands here
// as a second opinion on likelihood weighting and as the baseline of
// studies/symphony/bench/belief_bench.cc.
//
// Chains start from forward samples. During burn-in each variable's step is fitted to its
// acceptance; afterwards it stays.

#ifndef TUTTI_STUDIES_SYMPHONY_MCMC_H_
#define TUTTI_STUDIES_SYMPHONY_MCMC_H_

#include "tutti/belief/sampling.h"

namespace tutti {

struct ChainOptions {
  int chains = 16;  // side by side; at most kBlock
  int burn_in = 200;
  int sweeps = 64;  // kept of each chain
  uint64_t seed = 1;
};

// chains * sweeps samples of equal weight.
Samples run_chains(const Network& network, const Given& given, const ChainOptions& options);

}  // namespace tutti

#endif  // TUTTI_STUDIES_SYMPHONY_MCMC_H_
