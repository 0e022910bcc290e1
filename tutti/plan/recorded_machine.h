// The machine that a graph file names: the one that a workflow ran on, so that a simulated run can
// be held against the measured one, or the one that a placement problem (dnn_partitioning) is
// about.

#ifndef TUTTI_PLAN_RECORDED_MACHINE_H_
#define TUTTI_PLAN_RECORDED_MACHINE_H_

#include "tutti/graph/import/import.h"
#include "tutti/machine/machine.h"
#include "tutti/plan/constraints.h"

namespace tutti {

// Of hosts: one device each, with a slot per core and the host's memory; joined by a shared network
// of 10 Gbit/s, which the files do not state. Of a placement problem: its accelerators (of the kind
// "accelerator") and CPUs, joined by links that never are the bottleneck, since such files give the
// time of every transfer. Fails if the file names neither.
Result<Machine> recorded_machine(const Imported& imported);

// Pins every op of the graph that was read to the host it ran on, where the file says so.
void pin_as_recorded(const Imported& imported, const Graph& graph, Constraints& constraints);

}  // namespace tutti

#endif  // TUTTI_PLAN_RECORDED_MACHINE_H_
