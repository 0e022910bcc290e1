// The smallest policy: any ready op, on any device that may run it. Copy this to write your own.

#include "tutti/base/random.h"

#include "tutti/policy/heuristic/heuristics.h"

namespace tutti {
namespace {

class RandomSelect : public Select {
 public:
  explicit RandomSelect(Rng rng) : rng_(rng) {}
  std::optional<OpId> select(const State& state) override {
    return state.ready()[rng_.below(state.ready().size())];
  }

 private:
  Rng rng_;
};

class RandomPlace : public Place {
 public:
  explicit RandomPlace(Rng rng) : rng_(rng) {}
  DeviceId place(const State& state, OpId op) override {
    const auto devices = state.devices_for(op);
    return devices[rng_.below(devices.size())];
  }

 private:
  Rng rng_;
};

}  // namespace

Policy random_policy(const Problem& /*problem*/, uint64_t seed) {
  const Rng rng(seed);
  return {std::make_unique<RandomSelect>(rng.split(0)),
          std::make_unique<RandomPlace>(rng.split(1))};
}

}  // namespace tutti
