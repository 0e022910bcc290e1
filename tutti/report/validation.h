// What `tutti validate` wrote, as the page shows it. See docs/formats/validation.md.

#ifndef TUTTI_REPORT_VALIDATION_H_
#define TUTTI_REPORT_VALIDATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/base/file/fields.h"
#include "tutti/base/file/json_writer.h"
#include "tutti/base/file/source.h"
#include "tutti/base/result.h"

namespace tutti {

// The simulator against real runs of some plans.
struct ReportedValidation {
  struct Agreement {
    double rank_correlation = 0;
    double rank_correlation_better_half = 0;
    double mean_error = 0;
    double top1_regret = 0;
  };
  struct PlanRow {
    std::string policy;
    double simulated_ns = 0;
    double real_ns = 0;
  };
  struct GraphRow {
    std::string graph;
    Agreement agreement{};
    double bias = 0;
    std::vector<PlanRow> plans{};
  };
  struct ResidualRow {
    std::string kind;  // empty: transfers
    std::string where;
    int64_t count = 0;
    double median_ratio = 1;
    double median_error = 0;
    double time_share = 0;
  };

  std::string name;  // where it was read from
  std::string machine{};
  int64_t plans = 0;
  Agreement agreement{};
  std::vector<GraphRow> graphs{};
  std::vector<ResidualRow> residuals{};
};

// Fails with file and line; keys that later versions may add are passed over.
Result<ReportedValidation> read_validation(Source& source);

// One item of "residuals", which other files have too. Errors go to `above`.
ReportedValidation::ResidualRow read_residual_row(const Document& item, Fields& above,
                                                  const std::string& file);

// For the page's data.
void write_residual_rows(const std::vector<ReportedValidation::ResidualRow>& rows,
                         JsonWriter& json);
void write_validation(const ReportedValidation& validation, JsonWriter& json);

}  // namespace tutti

#endif  // TUTTI_REPORT_VALIDATION_H_
