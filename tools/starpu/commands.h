// The commands of tutti-starpu. Each is called by all ranks and gives the exit code of all.

#ifndef TUTTI_TOOLS_STARPU_COMMANDS_H_
#define TUTTI_TOOLS_STARPU_COMMANDS_H_

#include "tools/compare/compare_options.h"
#include "tools/run_report.h"
#include "tutti/runtime/starpu/ranks.h"

namespace tutti {

int run_on_starpu(const RunArguments& arguments, StarpuRanks& ranks);
int compare_on_starpu(const CompareArguments& arguments, StarpuRanks& ranks);

}  // namespace tutti

#endif  // TUTTI_TOOLS_STARPU_COMMANDS_H_
