// Plans compared by real runs on this host: in turns, in an order that is drawn anew for each turn,
// so that whatever disturbs the host for a while disturbs all of them.

#ifndef TUTTI_TOOLS_COMPARE_REAL_H_
#define TUTTI_TOOLS_COMPARE_REAL_H_

#include <optional>
#include <string>
#include <vector>

#include "tutti/base/statistics.h"
#include "tutti/base/stop.h"
#include "tutti/plan/plan.h"
#include "tutti/plan/problem.h"
#include "tutti/runtime/local/local.h"

namespace tutti {

struct RealEntry {
  std::string name;
  Plan plan;
  double plan_seconds = 0;
  bool bulk_synchronous = false;
};

struct RealRow {
  std::string name;
  std::string scheduler{};  // of StarPU's, if one decided
  bool bulk_synchronous = false;
  double plan_seconds = 0;
  std::optional<double> predicted_ns{};  // by the simulator; none under barriers, which it lacks
  std::vector<double> times_ns{};
  int64_t misplaced = 0;                   // ops that ran elsewhere than planned, in all runs
  std::optional<uint64_t> results{};       // fingerprint of what its runs came to
  std::string error{};                     // why it could not be run
  Error::Kind kind = Error::Kind::failed;  // of the error
};

struct RealComparisonSettings {
  int repeats = 10;
  int warm_up = 1;
  uint64_t seed = 1;
  bool staged = true;
  Stop stop{};
};

// A row that fails is left out from then on. Once stopped, rows have the runs that had ended.
std::vector<RealRow> compare_for_real(const Problem& problem, LocalRuntime& runtime,
                                      const std::vector<RealEntry>& entries,
                                      const RealComparisonSettings& settings);

// Where they ran.
struct RealSetting {
  std::string runtime;
  std::vector<std::string> hosts{};  // by rank, where there are several
  bool stopped = false;              // some have fewer runs than they should
};

std::string real_rows_to_json(const Problem& problem, const std::vector<RealRow>& rows,
                              const RealSetting& setting);
// A tie with the best: the intervals of both means meet. A row of one run has no interval.
std::string real_rows_to_table(const Problem& problem, const std::vector<RealRow>& rows,
                               const RealSetting& setting);
// Prints one or the other. Returns the exit code: a row that failed, or was not reached before a
// stop, is a row, unless all are.
int report_rows(const Problem& problem, const std::vector<RealRow>& rows,
                const RealSetting& setting, bool json);

// The rows in an order drawn for one turn.
std::vector<size_t> order_of_turn(size_t rows, uint64_t seed, int turn);

}  // namespace tutti

#endif  // TUTTI_TOOLS_COMPARE_REAL_H_
