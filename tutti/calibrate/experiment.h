// An Experiment is something to run in order to measure: a graph, and where each of its ops goes.
// There are three sorts:
//
//   probes of ops: the same op several times on every device at once, each with operands of its
//     own, so that what devices share (memory bandwidth, caches, power) is as busy as in a good
//     plan;
//   probes of routes: values that go from one memory to another with nothing else to do;
//   whole graphs, placed at random: ops among other ops, their operands where others left them.
//
// Nothing here runs anything; see calibrate.h.

#ifndef TUTTI_CALIBRATE_EXPERIMENT_H_
#define TUTTI_CALIBRATE_EXPERIMENT_H_

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/time.h"
#include "tutti/graph/graph.h"
#include "tutti/machine/machine.h"

namespace tutti {

struct Experiment {
  std::string what;  // a short name, for progress
  Graph graph;
  std::vector<DeviceId> placement;
};

// Whether the ops of a graph are independent: none reads what another made.
bool is_probe(const Graph& graph);

// Whether a kind of op can be run on a kind of device.
using CanRun = std::function<bool(std::string_view kind, std::string_view device_kind)>;

// Ops of every kind that tutti knows, each in several sizes, with no edges between them. The
// largest are for fast devices.
Graph usual_sizes();

// Probes that together have each work among the ops of the graphs, in order of kind and work; of
// `kinds` alone unless that is empty. What would take a device longer than kLongestProbe by its
// rates is left out there.
inline constexpr Duration kLongestProbe = std::chrono::milliseconds(60);
std::vector<Experiment> op_probes(const Machine& machine, std::span<const Graph* const> graphs,
                                  const CanRun& can_run,
                                  const std::vector<std::string>& kinds = {});

// Which ops of the graphs op_probes leaves out, and why: one sentence for each kind of op and of
// device, in order.
std::vector<std::string> unmeasured_ops(const Machine& machine,
                                        std::span<const Graph* const> graphs,
                                        const CanRun& can_run);

// Probes of several sizes for routes that together go over every hop.
std::vector<Experiment> route_probes(const Machine& machine, const CanRun& can_run);

// The graph, `count` times, each op on a random device that can run it. Fails if there is none.
Result<std::vector<Experiment>> whole_graphs(const Machine& machine, const Graph& graph, int count,
                                             uint64_t seed, const CanRun& can_run);

// Costs under which an experiment is a problem: every op takes a microsecond wherever it can run.
// What runs for real does not look at them.
struct CostSpec unit_costs(const Graph& graph, const Machine& machine, const CanRun& can_run);

}  // namespace tutti

#endif  // TUTTI_CALIBRATE_EXPERIMENT_H_
