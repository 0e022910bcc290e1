// The machine that a workflow file says its work ran on, so that a simulated run can be held
// against the measured one.

#ifndef TUTTI_PLAN_RECORDED_MACHINE_H_
#define TUTTI_PLAN_RECORDED_MACHINE_H_

#include "tutti/graph/import/import.h"
#include "tutti/machine/machine.h"
#include "tutti/plan/constraints.h"

namespace tutti {

// One device per host, with a slot per core and the host's memory; hosts joined by a shared network
// of 10 Gbit/s, which the files do not state. Fails if the file names no hosts.
Result<Machine> recorded_machine(const Imported& imported);

// Pins every op of the graph that was read to the host it ran on, where the file says so.
void pin_as_recorded(const Imported& imported, const Graph& graph, Constraints& constraints);

}  // namespace tutti

#endif  // TUTTI_PLAN_RECORDED_MACHINE_H_
