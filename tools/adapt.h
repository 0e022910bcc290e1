// What counters say while jobs run for real, and the belief of a Symphony model fitted to it: its
// constants alone, so that the network goes by what this machine really carries.

#ifndef TUTTI_TOOLS_ADAPT_H_
#define TUTTI_TOOLS_ADAPT_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tutti/plan/dispatch.h"

namespace tutti {

// Readings of all counters at one time, one after another.
using CounterRecord = std::vector<std::vector<CounterReading>>;

// Decides as another does, and writes down what counters say wherever that is news.
class RecordingDispatcher final : public Dispatcher {
 public:
  RecordingDispatcher(std::unique_ptr<Dispatcher> inner, CounterRecord& record)
      : inner_(std::move(inner)), record_(record) {}

  void begin(const Cluster& cluster, uint64_t seed) override { inner_->begin(cluster, seed); }
  Action decide(const ClusterState& state) override;

 private:
  std::unique_ptr<Dispatcher> inner_;
  CounterRecord& record_;
};

// Reads the model, fits its belief to the record and writes the new model. Returns how many
// readings it was fitted to. Fails (invalid_input) with a sentence if the model has no belief or is
// of another machine, or nothing in the record tells of waiting, by which a belief is fitted.
Result<int64_t> adapt_belief(const std::string& model, const std::string& adapted,
                             const Cluster& cluster, const std::vector<Counter>& counters,
                             const CounterRecord& record, uint64_t seed);

}  // namespace tutti

#endif  // TUTTI_TOOLS_ADAPT_H_
