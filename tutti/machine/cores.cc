// The cores this process may use, by hwloc where the build has it.

#include "tutti/base/parallel.h"
#include "tutti/machine/facts.h"

#ifdef TUTTI_HAVE_HWLOC
#include <hwloc.h>

#include <memory>
#endif

namespace tutti {

#ifdef TUTTI_HAVE_HWLOC

namespace {

struct FreeTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
struct FreeBitmap {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Topology = std::unique_ptr<hwloc_topology, FreeTopology>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

// Cores of which at least one thread is in the set.
int cores_in(hwloc_topology* topology, hwloc_const_cpuset_t set) {
  int cores = 0;
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr;) {
    if (hwloc_bitmap_intersects(core->cpuset, set)) ++cores;
  }
  return cores;
}

}  // namespace

std::vector<int> cores_by_numa_node() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {usable_cores()};
  const Topology topology(raw);
  const Bitmap ours(hwloc_bitmap_alloc());
  const Bitmap set(hwloc_bitmap_alloc());
  // Loading leaves out what the cpuset cgroup forbids; the affinity mask may be narrower still.
  if (hwloc_topology_load(raw) != 0 ||
      hwloc_get_cpubind(raw, ours.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    return {usable_cores()};
  }
  std::vector<int> cores;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    hwloc_bitmap_and(set.get(), ours.get(), node->cpuset);
    if (const int count = cores_in(raw, set.get()); count > 0) cores.push_back(count);
  }
  return cores.empty() ? std::vector<int>{usable_cores()} : cores;
}

#else

std::vector<int> cores_by_numa_node() {
  return {usable_cores()};
}

#endif

}  // namespace tutti
