// A load on this host that the scheduler cannot see: threads on given cores that stream through
// memory or compute, in phases of work and rest. It is real work, so that it slows down ops that
// share a core or the memory with it. The same seed gives the same phases.

#ifndef TUTTI_RUNTIME_ARRIVING_HIDDEN_LOAD_H_
#define TUTTI_RUNTIME_ARRIVING_HIDDEN_LOAD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/base/time.h"

namespace tutti {

struct HiddenLoadSpec {
  enum class Work : uint8_t { memory, compute };
  Work work = Work::memory;
  double share = 0;          // of a core's time in a working phase, on average; 0: no load
  double spread = 0.5;       // share of the cores that have a load at some time
  std::vector<int> cores{};  // as the kernel numbers them
  Duration mean_on{100'000'000};
  Duration mean_off{20'000'000};
};

class HiddenLoad {
 public:
  // Works and rests from now on, until it is destroyed.
  HiddenLoad(const HiddenLoadSpec& spec, uint64_t seed);
  ~HiddenLoad();

  // How long all of its threads together have worked, and what they moved or computed: it is no
  // idle loop that a compiler could drop.
  Duration worked() const;
  double sum() const;

 private:
  class Tenant;
  std::vector<std::unique_ptr<Tenant>> tenants_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_ARRIVING_HIDDEN_LOAD_H_
