// Profiles of PipeDream (github.com/msr-fiddle/pipedream), graph.txt: a line for each layer of a
// PyTorch model,
//
//   node4 -- Conv2d(3, 64, ...) -- forward_compute_time=1.5, backward_compute_time=2.5,
//   activation_size=1024.0, parameter_size=64.0
//
// (on one line), with times in ms and sizes in bytes, and for each edge a tab and "node4 -- node5".
//
// A layer becomes one op whose run time, on every kind of device, is forward and backward together:
// so PipeDream's own partitioner counts it. Its kind is the word before the bracket. Several sizes,
// "[a; b]", are one value of their sum, also as there. Parameters become a weight of the op.

#ifndef TUTTI_GRAPH_IMPORT_PIPEDREAM_H_
#define TUTTI_GRAPH_IMPORT_PIPEDREAM_H_

#include <string_view>

#include "tutti/graph/import/import.h"

namespace tutti {

bool looks_like_pipedream(std::string_view start);

Result<Imported> read_pipedream(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_PIPEDREAM_H_
