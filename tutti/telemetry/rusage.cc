#include <sys/resource.h>

#include <array>
#include <utility>

#include "tutti/telemetry/available.h"

namespace tutti {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

class RusageSource final : public CounterSource {
 public:
  RusageSource(RusageOf whose, const std::string& name, const Resource& about, Clock clock)
      : whose_(whose == RusageOf::thread ? RUSAGE_THREAD : RUSAGE_SELF), clock_(std::move(clock)) {
    // A process may run on several cores at once; a thread is busy for a share of its time.
    counters_ = {{{name + ".cpu", "cores", about},
                  {name + ".page_faults", "1/s", about},
                  {name + ".major_page_faults", "1/s", about},
                  {name + ".waits", "1/s", about},
                  {name + ".preemptions", "1/s", about}}};
    std::array<double, kCount> first{};
    read(first);
  }

  std::span<const Counter> counters() const override { return counters_; }

  void read(std::span<double> values) override {
    rusage usage{};
    const Duration now = clock_();
    if (getrusage(whose_, &usage) != 0) {
      std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
      return;
    }
    const double totals[kCount] = {
        seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
        static_cast<double>(usage.ru_minflt), static_cast<double>(usage.ru_majflt),
        static_cast<double>(usage.ru_nvcsw), static_cast<double>(usage.ru_nivcsw)};
    for (size_t i = 0; i < kCount; ++i) values[i] = rates_[i].update(totals[i], now);
  }

 private:
  static constexpr size_t kCount = 5;

  decltype(RUSAGE_SELF) whose_;
  Clock clock_;
  std::array<Counter, kCount> counters_;
  std::array<Rate, kCount> rates_;
};

}  // namespace

std::unique_ptr<CounterSource> make_rusage_source(RusageOf whose, const std::string& name,
                                                  const Resource& about, Clock clock) {
  return std::make_unique<RusageSource>(whose, name, about, std::move(clock));
}

}  // namespace tutti
