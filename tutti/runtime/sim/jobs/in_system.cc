#include "tutti/runtime/sim/jobs/in_system.h"

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"

namespace tutti {

JobsInSystem jobs_in_system(std::span<const JobRecord> jobs) {
  JobsInSystem made;
  Duration first = kNever;
  Duration last{0};
  double sum = 0;
  std::vector<std::pair<Duration, int>> changes;  // at one time those that end come first
  for (const JobRecord& job : jobs) {
    first = std::min(first, job.arrival);
    last = std::max(last, job.finish);
    sum += static_cast<double>(job.completion().count());
    changes.emplace_back(job.arrival, 1);
    changes.emplace_back(job.finish, -1);
  }
  if (last > first) made.mean = sum / static_cast<double>((last - first).count());
  std::sort(changes.begin(), changes.end());
  int64_t now = 0;
  for (const auto& [time, change] : changes) made.most = std::max(made.most, now += change);
  return made;
}

std::vector<double> jobs_in_system(std::span<const JobRecord> jobs, Duration from, Duration to,
                                   int count) {
  TUTTI_CHECK(count > 0 && from < to);
  std::vector<double> means(static_cast<size_t>(count), 0.0);
  const double length = static_cast<double>((to - from).count()) / count;
  for (const JobRecord& job : jobs) {
    const double begin = static_cast<double>((job.arrival - from).count()) / length;
    const double end =
        job.finish.count() == 0 ? count : static_cast<double>((job.finish - from).count()) / length;
    for (int i = std::max(0, static_cast<int>(begin)); i < count && i < end; ++i) {
      means[static_cast<size_t>(i)] +=
          std::max(0.0, std::min(end, i + 1.0) - std::max(begin, static_cast<double>(i)));
    }
  }
  return means;
}

}  // namespace tutti
