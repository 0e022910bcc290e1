// Device-placement inputs of msr-fiddle/dnn-partitioning (Tarnawski et al., NeurIPS 2020), as JSON:
// "nodes" with id, cpuLatency and fpgaLatency in ms, supportedOnFpga, colorClass and size in bytes,
// and "edges" with sourceId, destId, cost in ms and size in bytes. "FPGA" there is any accelerator.
//
// A node becomes an op with cpuLatency given for "cpu" and fpgaLatency for every other kind. Its
// size becomes a weight, resident where the op runs. Nodes of one colour get the attribute
// "colocate", and those that no accelerator supports "only_on" = "cpu" (docs/formats/graph.md). An
// edge's cost is the time between an accelerator and CPU memory, so that two accelerators are twice
// that apart and CPUs not at all. maxFPGAs, maxCPUs and maxSizePerFPGA (bytes) are the devices that
// the file is about.

#ifndef TUTTI_GRAPH_IMPORT_DNN_PARTITIONING_H_
#define TUTTI_GRAPH_IMPORT_DNN_PARTITIONING_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_dnn_partitioning(std::string_view start);

Result<Imported> read_dnn_partitioning(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_DNN_PARTITIONING_H_
