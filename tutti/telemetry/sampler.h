// A Sampler reads its sources again and again between two decisions and hands over what the
// readings say together: for each counter a mean, a spread and a count.
//
// Not for several threads at once.

#ifndef TUTTI_TELEMETRY_SAMPLER_H_
#define TUTTI_TELEMETRY_SAMPLER_H_

#include <memory>
#include <vector>

#include "tutti/telemetry/source.h"

namespace tutti {

class Sampler {
 public:
  explicit Sampler(std::vector<std::unique_ptr<CounterSource>> sources);

  // Those of all sources, one source after another.
  const std::vector<Counter>& counters() const { return counters_; }

  // Reads every counter once.
  void sample();

  // What has been read since the last call, and forgets it. A counter that had nothing to say has a
  // count of 0.
  std::vector<CounterReading> take();

 private:
  // Welford's running mean and sum of squares: no digits are lost where values are large and alike.
  struct Moments {
    int count = 0;
    double mean = 0;
    double squares = 0;
  };

  std::vector<std::unique_ptr<CounterSource>> sources_;
  std::vector<Counter> counters_;
  std::vector<double> values_;
  std::vector<Moments> moments_;
};

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_SAMPLER_H_
