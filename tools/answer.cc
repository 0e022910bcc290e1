#include "tools/answer.h"

#include <fmt/format.h>

#include "tutti/policy/registry.h"
#include "tutti/search/judge.h"

namespace tutti {

std::optional<Duration> single_device_makespan(const Problem& problem, SimModel model) {
  const Result<const PolicyEntry*> entry = find_policy("single_device");
  const Result<Plan> plan = make_plan(**entry, problem, {}, 0);
  if (!plan) return std::nullopt;
  const Result<Duration> makespan = Judge(problem, model).makespan(*plan, 0);
  if (!makespan) return std::nullopt;
  return *makespan;
}

double gap_to(Duration bound, double makespan_ns) {
  return bound.count() == 0 ? 0 : makespan_ns / static_cast<double>(bound.count()) - 1;
}

std::string gap_text(double gap) { return fmt::format("{:.1f} %", 100 * gap); }

std::string answer_line(const std::string& who, Duration makespan, const Bounds& bounds,
                        std::optional<Duration> single_device) {
  const double gap = gap_to(bounds.strongest(), static_cast<double>(makespan.count()));
  std::string line =
      fmt::format("{}: makespan {}, {} above the lower bound {}; ", who, to_text(makespan),
                  gap_text(gap), to_text(bounds.strongest()));
  line += single_device ? "the best single device takes " + to_text(*single_device)
                        : "no single device can run it";
  return line;
}

}  // namespace tutti
