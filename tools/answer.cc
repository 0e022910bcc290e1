#include "tools/answer.h"

#include <fmt/format.h>

#include <cmath>

#include "tutti/policy/registry.h"
#include "tutti/search/evaluate/scenario_simulator.h"

namespace tutti {

std::optional<Duration> single_device_makespan(const Problem& problem, SimModel model,
                                               ReadyOrder order, uint64_t seed, int runs) {
  const Result<const PolicyEntry*> entry = find_policy("single_device");
  const Result<Plan> plan = make_plan(**entry, problem, {}, 0);
  if (!plan) return std::nullopt;
  ScenarioSimulator judge(problem, model, order);
  if (!judge.depends_on_seed()) runs = 1;
  Duration total{0};
  for (int run = 0; run < runs; ++run) {
    const Result<Duration> makespan = judge.makespan(*plan, seed + static_cast<uint64_t>(run));
    if (!makespan) return std::nullopt;
    total += *makespan;
  }
  return total / runs;
}

std::string gap_text(double gap) {
  return std::isnan(gap) ? "no bound" : fmt::format("{:.1f} %", 100 * gap);
}

std::string answer_line(const std::string& policy, Duration makespan, const Bounds& bounds,
                        std::optional<Duration> single_device) {
  const double gap = gap_to(bounds.strongest(), static_cast<double>(makespan.count()));
  std::string line =
      fmt::format("{}: makespan {}, ", policy.empty() ? "plan" : policy, to_text(makespan));
  if (std::isnan(gap)) {
    line += "no lower bound but 0; ";
  } else if (gap < 0) {
    line += fmt::format("drawn with noise; the lower bound {} is of mean costs; ",
                        to_text(bounds.strongest()));
  } else {
    line +=
        fmt::format("{} above the lower bound {}; ", gap_text(gap), to_text(bounds.strongest()));
  }
  line += single_device ? "the best single device takes " + to_text(*single_device)
                        : "no single device can run it";
  return line;
}

}  // namespace tutti
