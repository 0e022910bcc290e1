// A Meter says how busy this host's resources are, and how sure that is: counters are read ten
// times a second, and a belief (tutti/belief) turns them into a distribution for each resource once
// a second.

#ifndef TUTTI_SERVE_RUN_METER_H_
#define TUTTI_SERVE_RUN_METER_H_

#include <memory>
#include <span>
#include <vector>

#include "tutti/serve/run/runner.h"

namespace tutti {

class Belief;
struct Counter;
struct Inferred;

class Meter {
 public:
  virtual ~Meter() = default;
  // Empty as long as nothing is known. Any thread may call.
  virtual std::vector<Utilisation> now() const = 0;
};

// What a belief says of each of its resources; those that `counters` speak of are measured.
std::vector<Utilisation> believed(const Belief& belief, std::span<const Counter> counters,
                                  const Inferred& inferred);

// Of this host as it is, into whatever devices a machine file may divide it. Fails as
// discover_machine does.
Result<std::unique_ptr<Meter>> make_host_meter();

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_METER_H_
