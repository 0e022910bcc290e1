// Counters that the kernel keeps in files: how busy each core is, context switches, page faults,
// bytes over network interfaces, memory; and of the cgroup this process is in, its CPU time and
// memory.

#ifndef TUTTI_TELEMETRY_PROC_H_
#define TUTTI_TELEMETRY_PROC_H_

#include <memory>
#include <string>

#include "tutti/telemetry/clock.h"
#include "tutti/telemetry/cores.h"
#include "tutti/telemetry/source.h"

namespace tutti {

// The cores that this process may use are taken for those of the machine's CPUs, in order; hardware
// threads of one core count together. `root` stands before "/proc" and "/sys". Fails (failed) where
// there is no /proc/stat.
Result<std::unique_ptr<CounterSource>> make_proc_source(const Machine& machine, Clock clock,
                                                        const std::string& root = "",
                                                        CoresAre what = CoresAre::cores);

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_PROC_H_
