// What can be counted on this host, and why not the rest.

#ifndef TUTTI_TELEMETRY_AVAILABLE_H_
#define TUTTI_TELEMETRY_AVAILABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "tutti/telemetry/cores.h"
#include "tutti/telemetry/source.h"

namespace tutti {

struct AvailableSource {
  std::string name;
  std::unique_ptr<CounterSource> source{};  // none: see why_not
  std::string why_not{};
};

// Every source there is but the simulated one, for the machine that this host is, or into which it
// is divided.
std::vector<AvailableSource> available_sources(const Machine& machine,
                                               CoresAre what = CoresAre::cores);

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_AVAILABLE_H_
