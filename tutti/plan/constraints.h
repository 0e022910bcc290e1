// Constraints are what a plan must obey beyond the graph and the machine. They are plain data, by
// name, as a file states them (docs/formats/constraints.md); Problem resolves and checks them.

#ifndef TUTTI_PLAN_CONSTRAINTS_H_
#define TUTTI_PLAN_CONSTRAINTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tutti/base/file/source.h"

namespace tutti {

struct Constraints {
  struct Pin {  // the op must run on one of these devices
    std::string op;
    std::vector<std::string> devices;
  };
  struct Forbidden {  // all ops of that name or kind stay off all devices of that name or kind
    std::string op;
    std::string op_kind;
    std::string device;
    std::string device_kind;
  };
  struct MemoryLimit {  // takes the place of the machine's capacity
    std::string memory;
    int64_t bytes;
  };

  bool memory = true;  // false: capacities are not enforced
  // Loading the weights that a plan keeps counts: they come from their homes during the run. False:
  // they are where they are kept when the run begins. Not in the file: it is asked for by --cold.
  bool cold = false;
  std::vector<MemoryLimit> memory_limits{};
  std::vector<std::vector<std::string>> colocations{};  // each group of ops shares one device
  std::vector<Pin> pins{};
  std::vector<Forbidden> forbidden{};
};

// TOML, or the same structure as JSON.
Result<Constraints> read_constraints(Source& source);

}  // namespace tutti

#endif  // TUTTI_PLAN_CONSTRAINTS_H_
