#include "tools/compare/batch_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "tools/print/table.h"
#include "tutti/base/statistics.h"

namespace tutti {
namespace {

using PairName = std::pair<std::string, std::string>;

struct PairFigure {
  double sum_ns = 0;
  int count = 0;
  bool refused = false;
  int64_t bound_ns = 0;

  // None if any seed has no plan: a mean over the others would be that of other problems.
  std::optional<double> mean() const {
    if (refused || count == 0) return std::nullopt;
    return sum_ns / count;
  }
};

using Figures = std::map<std::string, PairFigure>;  // by policy

std::map<PairName, Figures> figures_of(const std::vector<Sample>& samples) {
  std::map<PairName, Figures> pairs;
  for (const Sample& sample : samples) {
    PairFigure& figure = pairs[{sample.graph, sample.machine}][sample.policy];
    figure.bound_ns = sample.lower_bound_ns;
    if (!sample.makespan_ns) {
      figure.refused = true;
    } else {
      figure.sum_ns += static_cast<double>(*sample.makespan_ns);
      ++figure.count;
    }
  }
  return pairs;
}

std::optional<double> mean_in(const Figures& figures, const std::string& policy) {
  const auto found = figures.find(policy);
  return found == figures.end() ? std::nullopt : found->second.mean();
}

// Of one policy among the others; those without a figure tie behind all that have one.
double rank_in(const Figures& figures, const std::vector<std::string>& policies,
               const std::string& policy) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double own = mean_in(figures, policy).value_or(infinity);
  int faster = 0;
  int equal = 0;
  for (const std::string& other : policies) {
    const double mean = mean_in(figures, other).value_or(infinity);
    faster += mean < own ? 1 : 0;
    equal += mean == own ? 1 : 0;  // itself among them
  }
  return faster + (equal + 1) / 2.0;
}

void add_ratios(const std::vector<double>& ratios, PolicySummary& summary) {
  if (ratios.empty()) return;
  std::vector<double> logs;
  for (const double ratio : ratios) {
    logs.push_back(std::log(ratio));
    summary.better += ratio < 1 ? 1 : 0;
    summary.worse += ratio > 1 ? 1 : 0;
  }
  const Summary of_logs = summary_of(logs);
  summary.ratio = std::exp(of_logs.mean);
  summary.worst_ratio = *std::max_element(ratios.begin(), ratios.end());
  if (ratios.size() < 2) return;
  summary.ratio_low = std::exp(of_logs.mean - of_logs.half_interval);
  summary.ratio_high = std::exp(of_logs.mean + of_logs.half_interval);
}

// Over all pairs.
PolicySummary summary_of_policy(const std::string& policy, const std::map<PairName, Figures>& pairs,
                                const std::vector<std::string>& policies,
                                const std::string& baseline) {
  PolicySummary summary{.policy = policy};
  std::vector<double> ratios;
  double gaps = 0;
  int bounded = 0;
  for (const auto& pair : pairs) {
    const Figures& figures = pair.second;
    const double rank = rank_in(figures, policies, policy);
    summary.mean_rank += rank / static_cast<double>(pairs.size());
    const std::optional<double> mean = mean_in(figures, policy);
    if (!mean) {
      ++summary.refused;
      continue;
    }
    ++summary.pairs;
    const bool fastest = std::none_of(
        policies.begin(), policies.end(),
        [&](const std::string& other) { return mean_in(figures, other).value_or(*mean) < *mean; });
    summary.best += fastest ? 1 : 0;
    if (const int64_t bound = figures.at(policy).bound_ns; bound > 0) {
      gaps += *mean / static_cast<double>(bound) - 1;
      ++bounded;
    }
    const std::optional<double> base = mean_in(figures, baseline);
    if (base && *base > 0 && *mean > 0) ratios.push_back(*mean / *base);
  }
  if (bounded > 0) summary.mean_gap = gaps / bounded;
  add_ratios(ratios, summary);
  return summary;
}

}  // namespace

BatchSummary summarise_batch(const std::vector<Sample>& samples,
                             const std::vector<std::string>& policies,
                             const std::string& baseline) {
  const std::map<PairName, Figures> pairs = figures_of(samples);
  BatchSummary result{.baseline = baseline, .pairs = static_cast<int>(pairs.size())};
  for (const std::string& policy : policies) {
    result.policies.push_back(summary_of_policy(policy, pairs, policies, baseline));
  }
  std::stable_sort(
      result.policies.begin(), result.policies.end(),
      [](const PolicySummary& a, const PolicySummary& b) { return a.mean_rank < b.mean_rank; });
  return result;
}

std::string batch_table(const BatchSummary& summary) {
  const auto times = [](const std::optional<double>& ratio) {
    return ratio ? fmt::format("{:.3f}x", *ratio) : std::string("-");
  };
  Table table({"policy", "x " + summary.baseline, "95 % interval", "worst", "better", "worse",
               "rank", "best in", "gap", "no plan"});
  for (const PolicySummary& row : summary.policies) {
    table.add({row.policy, times(row.ratio),
               row.ratio_low ? fmt::format("{:.3f} to {:.3f}", *row.ratio_low, *row.ratio_high)
                             : std::string("-"),
               times(row.worst_ratio), std::to_string(row.better), std::to_string(row.worse),
               fmt::format("{:.2f}", row.mean_rank), std::to_string(row.best),
               row.mean_gap ? fmt::format("{:.1f} %", 100 * *row.mean_gap) : "-",
               std::to_string(row.refused)});
    if (&row == summary.policies.data()) table.mark_best();
  }
  return table.text();
}

}  // namespace tutti
