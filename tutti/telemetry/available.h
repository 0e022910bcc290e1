// The sources of counters of this host, and which of them can be read here.

#ifndef TUTTI_TELEMETRY_AVAILABLE_H_
#define TUTTI_TELEMETRY_AVAILABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "tutti/telemetry/clock.h"
#include "tutti/telemetry/cores.h"
#include "tutti/telemetry/source.h"

namespace tutti {

struct AvailableSource {
  std::string name;
  std::unique_ptr<CounterSource> source{};  // none: see why_not
  std::string why_not{};
};

// Every source below, for the machine that this host is, or into which it is divided.
std::vector<AvailableSource> available_sources(const Machine& machine,
                                               CoresAre what = CoresAre::cores);

// Counters that the kernel keeps in files: how busy each core is, context switches, page faults,
// bytes over network interfaces, memory; and of the cgroup this process is in, its CPU time and
// memory. The cores that this process may use are taken for those of the machine's CPUs, in order;
// hardware threads of one core count together. `root` stands before "/proc" and "/sys". Fails
// (failed) if there is no /proc/stat.
Result<std::unique_ptr<CounterSource>> make_proc_source(const Machine& machine, Clock clock,
                                                        const std::string& root = "",
                                                        CoresAre what = CoresAre::cores);

// What the kernel accounts to one thread or to this process (getrusage): time on a core, page
// faults, context switches. `about` is the resource that the process or thread works for; `name`
// begins the names of its counters.
enum class RusageOf : uint8_t {
  process,
  thread,  // the one that reads; make it, and read it, in the thread it is about
};
std::unique_ptr<CounterSource> make_rusage_source(RusageOf whose, const std::string& name,
                                                  const Resource& about, Clock clock);

// Counters of the processor by perf_event_open: cycles, instructions, cache misses, stalls. Each is
// tried and listed only if it opens: virtual machines often have none. Without permission to count
// other processes, or without any hardware counter, those of this process alone, with what the
// kernel counts itself. Fails (failed) if no event at all can be opened.
Result<std::unique_ptr<CounterSource>> make_perf_source(const Machine& machine, Clock clock,
                                                        CoresAre what = CoresAre::cores);

// Counters of NVIDIA GPUs by their management library, loaded on first use: the program also starts
// on hosts without it. The library's utilisation is over its own window (a sixth of a second to a
// second), and PCIe traffic takes some 20 ms to read for each direction: for rare decisions.
//
// `pci_ids` are those of the machine's GPUs (the word before the first '-' of their kind is "gpu"),
// in order: GpuFacts of this host have them. Devices with `units` are partitions of the first.
// Fails (failed) if there is no library, no driver, or none of these GPUs.
Result<std::unique_ptr<CounterSource>> make_nvml_source(
    const Machine& machine, const std::vector<std::string>& pci_ids,
    const std::string& library = "libnvidia-ml.so.1");

}  // namespace tutti

#endif  // TUTTI_TELEMETRY_AVAILABLE_H_
