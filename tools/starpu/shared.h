// What the commands of tutti-starpu do together on all ranks: read the same problem, share a plan,
// and speak with one voice.

#ifndef TUTTI_TOOLS_STARPU_SHARED_H_
#define TUTTI_TOOLS_STARPU_SHARED_H_

#include <functional>
#include <string>
#include <vector>

#include "tools/inputs.h"
#include "tutti/runtime/starpu/ranks.h"

namespace tutti {

// All of these are collective.

// Every rank reads the files, which must be the same at all of them. The machine "this-host" is the
// ranks' hosts where there are several. Warnings are said by rank 0 alone.
Result<LoadedProblem> load_on_ranks(const ProblemInputs& inputs, StarpuRanks& ranks);

// What rank 0 makes, at every rank. The others do not call `make`.
Result<Plan> share_plan(const Problem& problem, StarpuRanks& ranks,
                        const std::function<Result<Plan>()>& make);

// Rank 0 says the sentence; every rank gets the exit code.
int report_once(const Error& error, const StarpuRanks& ranks);

}  // namespace tutti

#endif  // TUTTI_TOOLS_STARPU_SHARED_H_
