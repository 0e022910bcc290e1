#include "tutti/runtime/arriving/hidden_load.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <thread>

#include "tutti/base/mutex.h"
#include "tutti/base/random.h"
#include "tutti/runtime/local/cpu/cores.h"

namespace tutti {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kStreamed = size_t{4} << 20;             // doubles: more than caches hold
constexpr size_t kStride = size_t{1} << 14;               // doubles between two looks at the clock
constexpr Duration kTurn = std::chrono::milliseconds(2);  // of work and rest, by its share

Duration drawn_time(Rng& rng, Duration mean) {
  return Duration(1 + static_cast<int64_t>(rng.exponential() * static_cast<double>(mean.count())));
}

}  // namespace

class HiddenLoad::Tenant {
 public:
  Tenant(const HiddenLoadSpec& spec, int core, Rng rng)
      : spec_(spec), core_(core), rng_(rng), thread_([this] { live(); }) {}

  ~Tenant() {
    {
      const MutexLock lock(mutex_);
      goes_ = true;
    }
    end_.notify_all();
    thread_.join();
  }

  int64_t worked_ns() const { return worked_ns_.load(std::memory_order_relaxed); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  void live() {
    pin_this_thread(core_);
    if (spec_.work == HiddenLoadSpec::Work::memory) streamed_.assign(kStreamed, 1.0);
    SteadyClock::time_point next = SteadyClock::now();
    for (;;) {
      next += drawn_time(rng_, spec_.mean_off);
      if (rest_until(next)) return;
      const double share = std::min(1.0, spec_.share * (0.5 + rng_.uniform()));
      next += drawn_time(rng_, spec_.mean_on);
      const Duration work(static_cast<int64_t>(share * static_cast<double>(kTurn.count())));
      for (SteadyClock::time_point turn = SteadyClock::now(); turn < next; turn += kTurn) {
        work_until(std::min(next, turn + work));
        if (rest_until(std::min(next, turn + kTurn))) return;
      }
    }
  }

  // True if it must go.
  bool rest_until(SteadyClock::time_point time) {
    const MutexLock lock(mutex_);
    while (!goes_ && SteadyClock::now() < time) end_.wait_until(mutex_, time);
    return goes_;
  }

  void work_until(SteadyClock::time_point time) {
    const SteadyClock::time_point begin = SteadyClock::now();
    SteadyClock::time_point now = begin;
    double sum = sum_.load(std::memory_order_relaxed);
    for (; now < time; now = SteadyClock::now()) {
      if (spec_.work == HiddenLoadSpec::Work::compute) {
        double x = 1 + sum * 1e-12;
        for (size_t i = 0; i < kStride; ++i) x = x * 0.999999 + 1e-6;
        sum += x;
        continue;
      }
      double* const part = &streamed_[at_];
      for (size_t i = 0; i < kStride; ++i) {
        sum += part[i];
        part[i] += 1;
      }
      at_ = (at_ + kStride) % kStreamed;
    }
    sum_.store(sum, std::memory_order_relaxed);
    worked_ns_.fetch_add(std::chrono::duration_cast<Duration>(now - begin).count(),
                         std::memory_order_relaxed);
  }

  const HiddenLoadSpec spec_;
  const int core_;
  Rng rng_;
  std::vector<double> streamed_;
  size_t at_ = 0;
  std::atomic<int64_t> worked_ns_{0};
  std::atomic<double> sum_{0};
  Mutex mutex_;
  std::condition_variable_any end_;
  bool goes_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses the others
};

HiddenLoad::HiddenLoad(const HiddenLoadSpec& spec, uint64_t seed) {
  if (spec.share <= 0) return;
  for (const int core : spec.cores) {
    Rng rng = Rng(seed).split(static_cast<uint64_t>(core) + 1);
    if (rng.uniform() < spec.spread) tenants_.push_back(std::make_unique<Tenant>(spec, core, rng));
  }
}

HiddenLoad::~HiddenLoad() = default;

Duration HiddenLoad::worked() const {
  Duration all{0};
  for (const auto& tenant : tenants_) all += Duration(tenant->worked_ns());
  return all;
}

double HiddenLoad::sum() const {
  double all = 0;
  for (const auto& tenant : tenants_) all += tenant->sum();
  return all;
}

}  // namespace tutti
