// A belief about a machine as the page draws it: every variable of the network (tutti/belief) at
// the part of the hardware that it is about, with its parents, law and constants, and what was
// believed of it at some moments. Names and numbers alone: nothing here refers to the network.

#ifndef TUTTI_REPORT_BELIEF_VIEW_H_
#define TUTTI_REPORT_BELIEF_VIEW_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/time.h"
#include "tutti/belief/belief.h"

namespace tutti {

struct ReportedBelief {
  struct Part {
    std::string sort;  // link, switch, root, interconnect, memory, core, device, launch
    std::string name;  // the machine's
  };
  enum class Role : uint8_t {
    measured,  // a root with a place for a counter
    launched,  // a root: what was just launched asks for
    observed,  // counted too, but below what it tells about
    hidden,
  };
  struct VariableRow {
    std::string name;
    int32_t part = 0;
    Role role = Role::hidden;
    bool believed = false;  // the use of a resource, which policies are told
    std::string counter{};  // what reads it; empty: nothing does
    std::vector<int32_t> parents{};
    std::string law{};                 // empty: a root
    std::vector<int32_t> constants{};  // as the law wants them
  };
  struct ConstantRow {
    std::string name;
    double start = 0;
    double value = 0;
  };
  struct Moment {
    Duration time{0};
    int64_t samples = 0;
    double effective = 0;      // how many equally likely samples say as much
    std::vector<double> mean;  // by variable
    std::vector<double> spread;
    std::vector<std::optional<double>> truth;  // by variable; empty: unknown
  };

  std::string machine;
  std::string told{};   // what it was told, in a few words
  std::string model{};  // whose constants it has; empty: those that learning starts with
  std::vector<Part> parts{};
  std::vector<VariableRow> variables{};  // each after its parents
  std::vector<ConstantRow> constants{};
  std::vector<Moment> moments{};  // by time
};

// Without moments. Requires the counters that the network was built for, and a raw value for each
// constant.
ReportedBelief view_of(const Machine& machine, std::span<const Counter> counters,
                       const MachineNetwork& built, std::span<const double> constants);

// What was inferred of every variable. No truth.
ReportedBelief::Moment moment_of(const Network& network, const Inferred& inferred, Duration time);

// For the page's data.
void write_belief(const ReportedBelief& belief, JsonWriter& json);

}  // namespace tutti

#endif  // TUTTI_REPORT_BELIEF_VIEW_H_
