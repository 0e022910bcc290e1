#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/telemetry/available.h"
#include "tutti/telemetry/cores.h"

namespace tutti {
namespace {

constexpr double kLineBytes = 64;  // of a cache line; a miss brings one

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

// One event, open on every processor or on this process.
class Event {
 public:
  static std::optional<Event> open(uint32_t type, uint64_t config, const std::vector<int>& on) {
    perf_event_attr attributes{};
    attributes.type = type;
    attributes.size = sizeof attributes;
    attributes.config = config;
    attributes.inherit = on.empty() ? 1 : 0;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    Event event;
    const auto add = [&](pid_t process, int processor) {
      Descriptor descriptor(
          static_cast<int>(syscall(SYS_perf_event_open, &attributes, process, processor, -1, 0UL)));
      if (descriptor.number() < 0) return false;
      event.descriptors_.push_back(std::move(descriptor));
      return true;
    };
    if (on.empty()) {
      // Without the right to look into the kernel, what happens outside of it.
      const bool opened = add(0, -1) || (attributes.exclude_kernel = 1, add(0, -1));
      return opened ? std::optional(std::move(event)) : std::nullopt;
    }
    const bool all = std::all_of(on.begin(), on.end(), [&](int p) { return add(-1, p); });
    return all ? std::optional(std::move(event)) : std::nullopt;
  }

  // Since it was opened. Where events take turns on too few registers, what they would have
  // counted.
  std::optional<double> total() const {
    double sum = 0;
    for (const Descriptor& descriptor : descriptors_) {
      uint64_t fields[3] = {};  // value, time enabled, time running
      if (::read(descriptor.number(), fields, sizeof fields) != sizeof fields) return std::nullopt;
      if (fields[2] == 0) continue;
      sum += static_cast<double>(fields[0]) * static_cast<double>(fields[1]) /
             static_cast<double>(fields[2]);
    }
    return sum;
  }

 private:
  std::vector<Descriptor> descriptors_;
};

class PerfSource final : public CounterSource {
 public:
  // On these processors, or if there are none on this process.
  PerfSource(const Resource& memory, std::vector<int> on, Clock clock)
      : on_(std::move(on)), clock_(std::move(clock)) {
    const bool everywhere = !on_.empty();
    add({"cycles", "1/s"}, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    add({"instructions", "1/s"}, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
    add({"cache_misses", "B/s", memory, everywhere ? Quantity::traffic : Quantity::other},
        PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, kLineBytes);
    add_stalls(memory, everywhere);
    // The kernel's own, for all processes, are in /proc, where reading them interrupts no process.
    if (everywhere) {
      read_first();
      return;
    }
    add({"task_clock", "cores"}, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1e-9);
    add({"page_faults", "1/s", memory}, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
    add({"context_switches", "1/s"}, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
    add({"migrations", "1/s"}, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
    read_first();
  }

  std::span<const Counter> counters() const override { return counters_; }

  void read(std::span<double> values) override {
    const Duration now = clock_();
    for (size_t i = 0; i < items_.size(); ++i) {
      const std::optional<double> total = items_[i].event.total();
      values[i] = total ? items_[i].rate.update(items_[i].unit * *total, now) : kUnknown;
    }
    if (!cycles_) return;
    // Stalls per second become the share of all cycles.
    const std::optional<double> cycles = cycles_->total();
    const double per_second = cycles ? cycle_rate_.update(*cycles, now) : kUnknown;
    values[stalls_] = per_second > 0 ? std::min(1.0, values[stalls_] / per_second) : kUnknown;
  }

 private:
  struct Item {
    Event event;
    double unit;
    Rate rate{};
  };

  // Rates are since the last time.
  void read_first() {
    std::vector<double> first(counters_.size());
    read(first);
  }

  void add(Counter counter, uint32_t type, uint64_t config, double unit = 1) {
    std::optional<Event> event = Event::open(type, config, on_);
    if (!event) return;
    counters_.push_back(std::move(counter));
    items_.push_back({std::move(*event), unit});
  }

  void add_stalls(const Resource& memory, bool everywhere) {
    cycles_ = Event::open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, on_);
    stalls_ = items_.size();
    if (!cycles_) return;
    add({"stalled", "share", memory, everywhere ? Quantity::waiting : Quantity::other},
        PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
    if (items_.size() == stalls_) cycles_.reset();  // this processor does not count stalls
  }

  std::vector<int> on_;
  Clock clock_;
  std::vector<Counter> counters_;
  std::vector<Item> items_;
  std::optional<Event> cycles_;
  Rate cycle_rate_{};
  size_t stalls_ = 0;
};

}  // namespace

Result<std::unique_ptr<CounterSource>> make_perf_source(const Machine& machine, Clock clock,
                                                        CoresAre what) {
  std::vector<int> processors;
  for (const HostCore& core : host_cores(machine, "", what))
    processors.insert(processors.end(), core.processors.begin(), core.processors.end());
  const Resource memory = resource_of(machine.host_memory());
  auto everywhere = std::make_unique<PerfSource>(memory, processors, clock);
  if (!processors.empty() && !everywhere->counters().empty())
    return std::unique_ptr<CounterSource>(std::move(everywhere));
  auto ours = std::make_unique<PerfSource>(memory, std::vector<int>{}, std::move(clock));
  const int reason = errno;
  if (ours->counters().empty())
    return failed(std::string("no event can be opened: ") + std::strerror(reason));
  return std::unique_ptr<CounterSource>(std::move(ours));
}

}  // namespace tutti
