// load_graph reads a graph from our own format or a foreign one. The format is recognised by the
// file's content, never by its name; the table in import.cc lists them. Each foreign format has one
// file here.

#ifndef TUTTI_GRAPH_IMPORT_IMPORT_H_
#define TUTTI_GRAPH_IMPORT_IMPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/file/source.h"
#include "tutti/base/result.h"
#include "tutti/base/time.h"
#include "tutti/graph/graph.h"

namespace tutti {

struct ImportOptions {
  // WfFormat only: state each run time as on the fastest machine of the file, by clock speed.
  bool scale_by_machine_speed = false;
  // ONNX only: the sizes of open dimensions and the rounds of loops, by name.
  std::vector<std::pair<std::string, int64_t>> dims{};
  // ONNX only: into how many blocks of columns large products with weights are split.
  int shards = 1;
  // HLO and StableHLO only: group the instructions of a module that XLA has not optimised as XLA
  // would.
  bool fuse = true;
};

// What one run of an HLO module starts (kernels, copies, library calls), and the bytes that these
// read and write; bodies of loops once.
struct Launches {
  double instructions = 0;
  double bytes = 0;
};

// A machine that a WfFormat file says the work ran on. 0 stands for what it does not say.
struct WfHost {
  std::string name;
  int cores = 0;
  double speed_mhz = 0;
  int64_t memory_bytes = 0;
};

// The devices that a file of dnn_partitioning is about: equal accelerators with a memory each, and
// CPUs, which share the host's.
struct PlacementDevices {
  int accelerators = 0;
  int cpus = 0;
  int64_t accelerator_bytes = 0;  // 0: not limited
};

struct Imported {
  Graph graph;
  std::vector<std::string> warnings{};  // sentences for the person, without the file's name
  std::string format{};                 // as in the table of formats
  std::optional<Duration> measured_makespan{};
  std::optional<Launches> launches{};  // HLO and StableHLO only
  // Where each op ran, if the file says: an index into hosts by op, -1 for unknown.
  std::vector<WfHost> hosts{};
  std::vector<int> host_of_op{};
  std::optional<PlacementDevices> devices{};
};

// "-" is standard input. Fails with a sentence that lists the formats if the content is of none.
Result<Imported> load_graph(const std::string& path, const ImportOptions& options = {});
Result<Imported> load_graph(Source& source, const ImportOptions& options = {});

// The names of the formats that load_graph reads.
std::vector<std::string> graph_formats();

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_IMPORT_H_
