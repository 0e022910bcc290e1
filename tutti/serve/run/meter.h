// A Meter says how busy the machine's resources are, and how sure that is.
//
// Of this host: counters are read ten times a second and a belief (tutti/belief) turns them into a
// distribution for each resource once a second. Of a simulated machine: the busy shares of devices
// over the last runs.

#ifndef TUTTI_SERVE_RUN_METER_H_
#define TUTTI_SERVE_RUN_METER_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tutti/machine/machine.h"
#include "tutti/serve/run/runner.h"

namespace tutti {

class Belief;
struct Counter;
struct Inferred;

struct Utilisation {
  std::string resource;
  double mean = 0;
  // 95 of 100 lie between these.
  double low = 0;
  double high = 0;
  bool measured = false;  // a counter is about it; otherwise it is inferred from others
};

class Meter {
 public:
  virtual ~Meter() = default;
  // Empty as long as nothing is known. Any thread may call.
  virtual std::vector<Utilisation> now() const = 0;
  // A run has ended.
  virtual void note(const RunReport& report) = 0;
  // Where the figures come from, in a few words.
  virtual const char* what() const = 0;
};

// What a belief says of each of its resources; those that `counters` speak of are measured.
std::vector<Utilisation> believed(const Belief& belief, std::span<const Counter> counters,
                                  const Inferred& inferred);

// Of this host as it is, into whatever devices a machine file may divide it. Fails as
// discover_machine does.
Result<std::unique_ptr<Meter>> make_host_meter();
// Keeps a reference to the machine.
std::unique_ptr<Meter> make_run_meter(const Machine& machine);

}  // namespace tutti

#endif  // TUTTI_SERVE_RUN_METER_H_
