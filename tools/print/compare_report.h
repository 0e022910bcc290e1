// Real runs of plans, as a table and as JSON.

#ifndef TUTTI_TOOLS_PRINT_COMPARE_REPORT_H_
#define TUTTI_TOOLS_PRINT_COMPARE_REPORT_H_

#include <string>
#include <vector>

#include "tutti/calibrate/measure/compare_plans.h"

namespace tutti {

// Where they ran.
struct RealSetting {
  std::string runtime;
  std::vector<std::string> hosts{};  // by rank, if there are several
  bool stopped = false;              // some rows have fewer runs than were asked for
};

// Prints the rows, as JSON or as a table. A row ties with the best if the intervals of both means
// meet; a row of one run has no interval. Returns the exit code: a row that failed, or was not
// reached before a stop, is only a row, unless all are.
int report_rows(const Problem& problem, const std::vector<MeasuredPlan>& rows,
                const RealSetting& setting, bool json);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_COMPARE_REPORT_H_
