#include "tutti/telemetry/available.h"

#include <utility>

#include "tutti/machine/facts.h"

namespace tutti {
namespace {

AvailableSource entry(std::string name, Result<std::unique_ptr<CounterSource>> made) {
  if (!made) return {.name = std::move(name), .why_not = made.error().message};
  return {.name = std::move(name), .source = std::move(*made)};
}

Result<std::unique_ptr<CounterSource>> nvml_source(const Machine& machine) {
  std::vector<std::string> pci_ids;
  for (const GpuFacts& gpu : cuda_gpus("")) pci_ids.push_back(gpu.pci_id);
  if (pci_ids.empty()) return failed("the CUDA driver shows no GPU");
  return make_nvml_source(machine, pci_ids);
}

}  // namespace

std::vector<AvailableSource> available_sources(const Machine& machine, CoresAre what) {
  std::vector<AvailableSource> all;
  all.push_back(entry("proc", make_proc_source(machine, steady_time, "", what)));
  all.push_back(
      entry("process", make_rusage_source(RusageOf::process, "process", {}, steady_time)));
  all.push_back(entry("thread", make_rusage_source(RusageOf::thread, "thread", {}, steady_time)));
  all.push_back(entry("perf", make_perf_source(machine, steady_time, what)));
  all.push_back(entry("nvml", nvml_source(machine)));
  return all;
}

}  // namespace tutti
