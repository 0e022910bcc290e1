// Fits the belief of a Symphony model to what counters said while jobs ran for real. Only the
// belief's constants change; the weights of the model stay.

#ifndef TUTTI_POLICY_SYMPHONY_ADAPT_H_
#define TUTTI_POLICY_SYMPHONY_ADAPT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tutti/plan/world/decider.h"

namespace tutti {

// Readings of all counters at one time, one after another.
using CounterRecord = std::vector<std::vector<CounterReading>>;

// Decides as another decider does, and records the readings whenever they have changed.
class RecordingDecider final : public Decider {
 public:
  RecordingDecider(std::unique_ptr<Decider> inner, CounterRecord& record)
      : inner_(std::move(inner)), record_(record) {}

  void begin(const Cluster& cluster, uint64_t seed) override { inner_->begin(cluster, seed); }
  Action decide(const WorldState& state) override;

 private:
  std::unique_ptr<Decider> inner_;
  CounterRecord& record_;
};

// Reads the model, fits its belief to the record and writes the new model. Returns how many
// readings it was fitted to. Fails (invalid_input) if the model has no belief or is of another
// machine, or if no counter of waiting was read, to which a belief is fitted.
Result<int64_t> adapt_belief(const std::string& model, const std::string& adapted,
                             const Cluster& cluster, const std::vector<Counter>& counters,
                             const CounterRecord& record, uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_ADAPT_H_
