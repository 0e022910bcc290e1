// What commands print about plans for repeated passes (tutti/search/throughput/throughput.h).

#ifndef TUTTI_TOOLS_PRINT_THROUGHPUT_REPORT_H_
#define TUTTI_TOOLS_PRINT_THROUGHPUT_REPORT_H_

#include <string>

#include "tutti/base/file/json_writer.h"
#include "tutti/plan/bound.h"
#include "tutti/plan/problem.h"
#include "tutti/search/throughput/throughput.h"

namespace tutti {

// A plan and how it does. `tried` and `for_one_pass` may be empty.
struct ThroughputReport {
  const Problem& problem;
  const ThroughputResult& result;
  Duration lower_bound{0};  // of the time per pass
  int passes = 1;           // that were asked for

  // The answer in one line, then devices with their loads, then a table of what was tried.
  std::string text() const;
  std::string json() const;
};

// The keys of the open object that say how a plan does.
void add_pass_times(JsonWriter& json, const PassTimes& times);

// For tables: "8 of 8".
std::string in_flight_text(const PassTimes& times, int passes);

}  // namespace tutti

#endif  // TUTTI_TOOLS_PRINT_THROUGHPUT_REPORT_H_
