// What was recorded of a run at one rank, and how the records of all ranks become a Trace.

#ifndef TUTTI_RUNTIME_STARPU_RECORDS_H_
#define TUTTI_RUNTIME_STARPU_RECORDS_H_

#include <span>
#include <string>
#include <vector>

#include "tutti/plan/problem.h"
#include "tutti/trace/trace.h"

namespace tutti {

// Times are of the clock of all ranks.
struct RankRecords {
  Duration began{0};
  std::vector<OpSpan> ops{};
  // A message has two: where it left one with a start, where it came one with a finish; the other
  // time is kNever.
  std::vector<TransferSpan> transfers{};
};

// For sending.
std::string to_bytes(const RankRecords& records);
RankRecords records_from(const std::string& bytes);

// Time 0 is when the first rank began. `scheduler` is the one of StarPU that decided; empty: tutti
// did.
Trace to_trace(const Problem& problem, std::string scheduler, std::span<const RankRecords> records);

}  // namespace tutti

#endif  // TUTTI_RUNTIME_STARPU_RECORDS_H_
