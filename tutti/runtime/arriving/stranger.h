// A load on this host of which no dispatcher is told: threads on given cores that stream through
// memory or compute, by turns there and gone. Real work, so that it slows down whoever shares a
// core or the memory with it. Same seed: there and gone at the same times.

#ifndef TUTTI_RUNTIME_ARRIVING_STRANGER_H_
#define TUTTI_RUNTIME_ARRIVING_STRANGER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tutti/base/time.h"

namespace tutti {

struct StrangerSpec {
  enum class Work : uint8_t { memory, compute };
  Work work = Work::memory;
  double share = 0;          // of a core's time while it is there, on average; 0: nobody comes
  double spread = 0.5;       // share of the cores that have one at some time
  std::vector<int> cores{};  // as the kernel numbers them
  Duration mean_on{100'000'000};
  Duration mean_off{20'000'000};
};

class Stranger {
 public:
  // Comes and goes from now on, until it is destroyed.
  Stranger(const StrangerSpec& spec, uint64_t seed);
  ~Stranger();

  // How long all of its threads together have worked, and what they moved or computed: it is no
  // idle loop that a compiler could drop.
  Duration worked() const;
  double sum() const;

 private:
  class Tenant;
  std::vector<std::unique_ptr<Tenant>> tenants_;
};

}  // namespace tutti

#endif  // TUTTI_RUNTIME_ARRIVING_STRANGER_H_
