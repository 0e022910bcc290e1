// The cluster on which deciders are compared: two sockets with a CPU, a GPU and an FPGA each,
// and costs and demands of the twelve kinds of ops of tutti/graph/make/job.h. All figures are
// estimates of the right order for such hardware; none is measured. What matters is that they
// differ in what they are bound by:
//
//   compute     extend, realign, pair_hmm, fft    a core, an accelerator
//   bandwidth   sort, dedup, correlate, merge     the memory of a socket, its cache
//   PCIe        scan, decode                      what accelerators stream from the host
//   latency     lookup                            a third of a core, on no accelerator any faster
//   mixed       infer

#ifndef TUTTI_PLAN_WORLD_DEFAULT_CLUSTER_H_
#define TUTTI_PLAN_WORLD_DEFAULT_CLUSTER_H_

#include "tutti/plan/world/cluster.h"

namespace tutti {

// Each socket: 4 cores of two threads, 40 GB/s of memory, 120 GB/s of cache, a root complex of 14
// GB/s; a GPU that runs two ops at once and an FPGA of two contexts (4 ms to configure) behind a
// PCIe switch of 12 GB/s, on links of 10. 16 GB/s between the sockets. A core of each CPU is the
// proxy of its GPU.
MachineSpec default_cluster_machine();

CostSpec default_cluster_costs(double noise = 0.1);

Cluster default_cluster(double noise = 0.1);

}  // namespace tutti

#endif  // TUTTI_PLAN_WORLD_DEFAULT_CLUSTER_H_
