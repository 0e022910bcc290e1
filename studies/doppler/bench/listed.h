// Problems of a list (studies/doppler/protocol.md), and means over them with intervals by family.
// For the programs that measure on such lists.

#ifndef TUTTI_STUDIES_DOPPLER_BENCH_LISTED_H_
#define TUTTI_STUDIES_DOPPLER_BENCH_LISTED_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tutti/policy/doppler/model.h"
#include "tutti/search/evaluate/evaluator.h"

namespace tutti {

// A line: machine, family, size, ratio, graph file. studies/doppler/scripts/zero-shot makes the
// files.
struct Listed {
  std::string machine, family, size, ratio, path;
};

std::vector<Listed> read_list(const std::string& path);

// The problem with 10 % noise on run times and transfers. None, with a line to standard error, if
// the files do not make a problem.
std::optional<Problem> listed_problem(const Listed& listed);

// Four scenarios to plan by, and twenty held-out ones.
SearchModel planning_scenarios();
SearchModel fresh_scenarios();

// "general" is the model that comes with tutti, anything else a file. Ends the program with a
// sentence if it cannot be read.
DopplerModel model_named(const std::string& name);

struct RatioInterval {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// The mean of all values and its 95 % interval by bootstrap: families are resampled, and values
// within them.
RatioInterval by_family(const std::map<std::string, std::vector<double>>& families);

}  // namespace tutti

#endif  // TUTTI_STUDIES_DOPPLER_BENCH_LISTED_H_
