// Counters whose values are pushed in by the simulator or a test.

#ifndef TUTTI_TELEMETRY_SIMULATED_H_
#define TUTTI_TELEMETRY_SIMULATED_H_

#include <limits>
#include <utility>
#include <vector>

#include "tutti/base/check.h"
#include "tutti/telemetry/source.h"

namespace tutti {

class SimulatedSource final : public CounterSource {
 public:
  explicit SimulatedSource(std::vector<Counter> counters)
      : counters_(std::move(counters)),
        values_(counters_.size(), std::numeric_limits<double>::quiet_NaN()) {}

  // What the next reads give. Requires a value for each counter; not a number: nothing to say.
  void push(std::vector<double> values) {
    TUTTI_CHECK(values.size() == counters_.size());
    values_ = std::move(values);
  }

  std::span<const Counter> counters() const override { return counters_; }
  void read(std::span<double> values) override {
    std::copy(values_.begin(), values_.end(), values.begin());
  }

 private:
  std::vector<Counter> counters_;
  std::vector<double> values_;
};

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_SIMULATED_H_
