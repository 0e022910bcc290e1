#include "tutti/telemetry/sampler.h"

#include <cmath>
#include <utility>

namespace tutti {

Sampler::Sampler(std::vector<std::unique_ptr<CounterSource>> sources)
    : sources_(std::move(sources)) {
  for (const auto& source : sources_) {
    const auto some = source->counters();
    counters_.insert(counters_.end(), some.begin(), some.end());
  }
  values_.resize(counters_.size());
  moments_.resize(counters_.size());
}

void Sampler::sample() {
  size_t first = 0;
  for (const auto& source : sources_) {
    const size_t count = source->counters().size();
    source->read(std::span(values_).subspan(first, count));
    first += count;
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!std::isfinite(values_[i])) continue;
    Moments& moments = moments_[i];
    const double off = values_[i] - moments.mean;
    moments.mean += off / ++moments.count;
    moments.squares += off * (values_[i] - moments.mean);
  }
}

std::vector<CounterReading> Sampler::take() {
  std::vector<CounterReading> readings;
  for (Moments& moments : moments_) {
    const int count = moments.count;
    const double spread = count > 1 ? std::sqrt(moments.squares / (count - 1)) : 0;
    readings.push_back({.mean = moments.mean, .spread = spread, .count = count});
    moments = {};
  }
  return readings;
}

}  // namespace tutti
