#include "tutti/policy/symphony/adapt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tutti/base/file/output.h"
#include "tutti/base/file/source.h"
#include "tutti/belief/constants_file.h"
#include "tutti/belief/fit.h"
#include "tutti/policy/symphony/model.h"

namespace tutti {
namespace {

constexpr size_t kMostObservations = 128;  // spread over the record, so that a fit takes seconds

bool is_news(const std::vector<CounterReading>& before, const std::vector<CounterReading>& now) {
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].mean != before[i].mean || now[i].count != before[i].count) return true;
  }
  return false;
}

}  // namespace

Action RecordingDecider::decide(const WorldState& state) {
  const bool news = !state.readings.empty() &&
                    (record_.empty() || record_.back().size() != state.readings.size() ||
                     is_news(record_.back(), state.readings));
  if (news) record_.push_back(state.readings);
  return inner_->decide(state);
}

Result<int64_t> adapt_belief(const std::string& model, const std::string& adapted,
                             const Cluster& cluster, const std::vector<Counter>& counters,
                             const CounterRecord& record, uint64_t seed) {
  Result<Source> source = Source::open(model);
  if (!source) return source.error();
  Result<TensorFile> file = read_tensors(*source);
  if (!file) return file.error();
  const auto loaded = SymphonyModel::load(*file, model, cluster, counters);
  if (!loaded) return loaded.error();
  const Belief* belief = (*loaded)->observer().belief();
  if (belief == nullptr) {
    return invalid_input(model + ": the model has no belief that could be adapted");
  }
  const auto tells = [&](const std::vector<CounterReading>& readings) {
    for (size_t i = 0; i < counters.size(); ++i) {
      if (counters[i].quantity == Quantity::waiting && readings[i].count > 0) return true;
    }
    return false;
  };
  std::vector<Observation> observations;
  for (const std::vector<CounterReading>& readings : record) {
    if (tells(readings)) observations.push_back({.readings = readings});
  }
  if (observations.empty()) {
    return invalid_input(
        "nothing in these runs told of waiting, by which a belief is fitted; give ops [[demand]] "
        "rows with memory_bytes_per_s in the costs, or run more jobs");
  }
  const size_t stride = (observations.size() + kMostObservations - 1) / kMostObservations;
  std::vector<Observation> some;
  for (size_t i = 0; i < observations.size(); i += stride) some.push_back(observations[i]);
  FitOptions options;
  options.sampling.seed = seed;
  const std::vector<double> constants =
      fit_constants(*belief, (*loaded)->constants(), some, options);
  store_constants(belief->network(), constants, *file);
  if (!std::all_of(constants.begin(), constants.end(), [](double c) { return std::isfinite(c); })) {
    return failed("the fit of the belief went astray; its constants are no numbers");
  }
  if (auto written = write_file(adapted, tensors_to_bytes(*file)); !written) return written.error();
  return static_cast<int64_t>(some.size());
}

}  // namespace tutti
