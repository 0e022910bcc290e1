#include "tutti/calibrate/measure/residuals.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/statistics.h"

namespace tutti {

void Residuals::add(std::string kind, std::string where, double real_ns, Duration expected) {
  if (expected <= Duration{0} || expected >= kNever) return;
  Measured& measured = measured_[{std::move(kind), std::move(where)}];
  measured.ratios.push_back(real_ns / static_cast<double>(expected.count()));
  measured.ns += real_ns;
}

std::vector<Residual> Residuals::rows() const {
  double in_ops = 0;
  double in_hops = 0;
  for (const auto& [key, measured] : measured_) {
    (key.first.empty() ? in_hops : in_ops) += measured.ns;
  }
  std::vector<Residual> rows;
  for (const auto& [key, measured] : measured_) {
    std::vector<double> errors;
    for (const double ratio : measured.ratios) errors.push_back(std::abs(ratio - 1));
    rows.push_back(
        {.kind = key.first,
         .where = key.second,
         .count = static_cast<int64_t>(measured.ratios.size()),
         .median_ratio = summary_of(measured.ratios).median,
         .median_error = summary_of(errors).median,
         .time_share = measured.ns / std::max(1.0, key.first.empty() ? in_hops : in_ops)});
  }
  return rows;
}

void write_residuals(const std::vector<Residual>& residuals, JsonWriter& json) {
  json.key("residuals").open_list();
  for (const Residual& residual : residuals) {
    json.open_object().field("kind", residual.kind).field("where", residual.where);
    json.field("count", residual.count).field("median_ratio", residual.median_ratio);
    json.field("median_error", residual.median_error).field("time_share", residual.time_share);
    json.close_object();
  }
  json.close_list();
}

}  // namespace tutti
