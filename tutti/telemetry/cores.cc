#include "tutti/telemetry/cores.h"

#include <fmt/format.h>
#include <sched.h>

#include <fstream>
#include <map>
#include <utility>

namespace tutti {
namespace {

std::vector<int> usable_processors() {
  cpu_set_t set;
  std::vector<int> processors;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

int number_in(const std::string& path, int otherwise) {
  int number = otherwise;
  std::ifstream(path) >> number;
  return number;
}

}  // namespace

std::vector<HostCore> host_cores(const Machine& machine, const std::string& root, CoresAre what) {
  std::vector<HostCore> found;
  std::map<std::pair<int, int>, size_t> place_of;  // by socket and core
  for (const int processor : usable_processors()) {
    const std::string folder =
        fmt::format("{}/sys/devices/system/cpu/cpu{}/topology/", root, processor);
    const int socket = number_in(folder + "physical_package_id", 0);
    // If the topology is not known, every processor is a core.
    const bool is_core = what == CoresAre::processors;
    const int core = is_core ? processor : number_in(folder + "core_id", -1 - processor);
    const auto [place, is_new] = place_of.try_emplace({socket, core}, found.size());
    if (is_new) found.emplace_back();
    found[place->second].processors.push_back(processor);
  }
  size_t next = 0;
  for (const DeviceId id : machine.devices()) {
    const Device& device = machine.device(id);
    if (device.kind.substr(0, device.kind.find('-')) != "cpu") continue;
    for (int c = 0; c < cores_of(device) && next < found.size(); ++c)
      found[next++].resource = core_of(id, c);
  }
  found.resize(next);
  return found;
}

}  // namespace tutti
