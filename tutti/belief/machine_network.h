// The Bayesian network of a machine: Symphony's Fig. 5 (Banerjee et al. 2020) with its plates
// unrolled over what a Machine has. Fig. 5 on the left, ours on the right; `->` leads from parent
// to child, [m] is measured, [a] is the demand of ops launched since the counters were read.
//
//   uops_issued -> core_util              issued[core] [m], launched[cpu] [a] -> core
//   fp, ports, divider, mem_bw            issued[core] [m], memory[host] -> backend[core]
//     -> backend_util -> core_util          -> core (a Machine knows no ports and dividers)
//   core_util -> CPU_util                 core -> device, for each CPU
//   outstanding_requests -> dram_bw       outstanding[memory, threshold] [m] -> dram[memory]
//   dram_lat, dram_bw, cache, pcr         dram, load[memory], root[host] -> memory, where traffic
//   [m]
//     -> mem_bw_util                        and launched [a] -> load (a Machine knows no caches)
//   switched_dma, direct_dma              traffic[channel] [m], launched [a] -> link, for each
//                                           direction of each link that has a bandwidth: PCIe,
//                                           NVLink and network alike
//   switched_dma_util -> pcs_util         links that lead into it -> switch
//   pcs_util, direct_dma_util -> pcr      switches and links at a host -> root[host]
//   pcr_util -> interconnect_util         root -> interconnect, if there are several hosts
//   (accelerators: only their DMA)        busy[device] [m], launched [a] -> device
//
// In Fig. 5 all measured variables are roots. Here some are children, as evidence: how often ops or
// transfers had to wait for a channel or a memory. They show the use of resources without a counter
// of their own.
//
// Utilisations are shares; traffic is divided by the bandwidth that the machine states, so that the
// learnable capacities start at 1. Roots whose counter is missing get a wide prior. Variables of
// outstanding requests and of waiting are there only if they are counted. Copy engines are left
// out: what they move is counted on the links.

#ifndef TUTTI_BELIEF_MACHINE_NETWORK_H_
#define TUTTI_BELIEF_MACHINE_NETWORK_H_

#include <span>
#include <string>
#include <vector>

#include "tutti/belief/network.h"
#include "tutti/machine/counter.h"

namespace tutti {

// A resource whose utilisation the network infers.
struct Believed {
  Resource resource{};
  std::string name;
  VariableId variable{};
};

// A variable whose value is given by readings or launched ops: the amount divided by `unit`.
struct InputVariable {
  VariableId variable{};
  Resource resource{};
  int counter = -1;  // its place among the counters; -1: none
  double unit = 1;
};

struct MachineNetwork {
  Network network{};
  std::vector<Believed> resources{};      // what a belief is about, by rising variable
  std::vector<InputVariable> measured{};  // roots
  std::vector<InputVariable> launched{};  // roots
  std::vector<InputVariable> observed{};  // evidence, by rising variable
};

// Ignores counters of other quantities or resources; of two that count the same it uses the first.
MachineNetwork build_machine_network(const Machine& machine, std::span<const Counter> counters);

}  // namespace tutti

#endif  // TUTTI_BELIEF_MACHINE_NETWORK_H_
