// An order in which the nodes of an ONNX graph can run. The format asks for one, and tools that
// rewrite models forget. For model.cc and bodies.cc alone; needs libonnx.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_ORDER_H_
#define TUTTI_GRAPH_IMPORT_ONNX_ORDER_H_

#include <onnx/onnx_pb.h>

#include <set>
#include <string>
#include <vector>

namespace tutti {

// The names that a node reads; with a loop or branch, also those of the graph around it that its
// bodies read.
std::set<std::string> onnx_names_read(const onnx::NodeProto& node);

// The order of the file wherever that is one. Nodes on or behind a cycle come last.
std::vector<int> onnx_order(const onnx::GraphProto& graph);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_ORDER_H_
