// The flags of commands that read graphs in foreign formats: --dim and --shard for ONNX models,
// --no-fuse for HLO and StableHLO text.

#ifndef TUTTI_TOOLS_IMPORT_FLAGS_H_
#define TUTTI_TOOLS_IMPORT_FLAGS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tutti/graph/import/import.h"

namespace tutti {

struct ImportFlags {
  std::vector<std::string> dims;  // "name=size"
  int shards = 1;
  bool no_fuse = false;
  bool quiet = false;  // no warnings: the files were read before

  void add_to(CLI::App& command);

  // Reads a graph with them; its warnings go to standard error. Fails as load_graph does, on a
  // --dim that is not "name=size", and on a flag that is not for the graph's format.
  Result<Imported> load(Source& source, bool scale_by_machine_speed = false) const;
  Result<Imported> load(const std::string& path, bool scale_by_machine_speed = false) const;
};

}  // namespace tutti

#endif  // TUTTI_TOOLS_IMPORT_FLAGS_H_
