// What `tutti validate --online` wrote, as the page shows it. See
// docs/formats/online-validation.md.

#ifndef TUTTI_REPORT_ONLINE_VALIDATION_H_
#define TUTTI_REPORT_ONLINE_VALIDATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/source.h"
#include "tutti/base/result.h"
#include "tutti/report/validation.h"

namespace tutti {

// The simulator against real runs of arriving jobs, policy by policy.
struct ReportedOnlineValidation {
  // With its interval of 95 %.
  struct Figure {
    double value = 0;
    double low = 0;
    double high = 0;
  };
  struct PolicyRow {
    std::string policy;
    Figure real{};
    Figure simulated{};
    Figure error{};
    double real_jobs_in_system = 0;
    double simulated_jobs_in_system = 0;
    double decision_ns = 0;
  };

  std::string name;  // where it was read from
  std::string machine{};
  int64_t jobs = 0;
  int64_t turns = 0;
  std::optional<double> load{};
  Figure rank_correlation{};
  Figure mean_error{};
  double agreement_of_turns = 0;
  int64_t pairs_that_differ = 0;
  int64_t pairs_in_same_order = 0;
  std::vector<PolicyRow> policies{};
  std::vector<ReportedValidation::ResidualRow> residuals{};
};

// Fails with file and line; keys that later versions may add are passed over.
Result<ReportedOnlineValidation> read_online_validation(Source& source);

// For the page's data.
void write_online_validation(const ReportedOnlineValidation& validation, JsonWriter& json);

}  // namespace tutti

#endif  // TUTTI_REPORT_ONLINE_VALIDATION_H_
