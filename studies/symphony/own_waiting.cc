#include "studies/symphony/own_waiting.h"

#include <algorithm>
#include <utility>

#include "tutti/base/check.h"
#include "tutti/telemetry/clock.h"

namespace tutti {

OwnWaiting::OwnWaiting(std::vector<Work> works) : works_(std::move(works)), noted_(works_.size()) {
  for (const Work& work : works_) {
    TUTTI_CHECK(work.alone > Duration(0) && work.alone < work.full);
    counters_.push_back({work.name + ".waiting", "share", work.resource, Quantity::waiting});
  }
}

void OwnWaiting::note(size_t work, Duration taken) {
  const MutexLock lock(mutex_);
  noted_[work].push_back(taken);
}

void OwnWaiting::read(std::span<double> values) {
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < works_.size(); ++i) {
    std::vector<Duration>& times = noted_[i];
    values[i] = kUnknown;
    if (times.empty()) continue;
    const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    const auto over = static_cast<double>((*middle - works_[i].alone).count());
    const auto most = static_cast<double>((works_[i].full - works_[i].alone).count());
    values[i] = std::clamp(over / most, 0.0, 1.0);
    times.clear();
  }
}

}  // namespace tutti
