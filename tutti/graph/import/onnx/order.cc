#ifdef TUTTI_HAVE_ONNX

#include "tutti/graph/import/onnx/order.h"

#include <functional>
#include <queue>
#include <unordered_map>

namespace tutti {
namespace {

void add_names(const onnx::NodeProto& node, std::set<std::string>& names);

// The names that a body reads of the graphs around it. Bodies within bodies are at most as deep as
// the parser lets through.
void add_captured_names(const onnx::GraphProto& body, std::set<std::string>& names) {
  std::set<std::string> read;
  for (const onnx::NodeProto& inner : body.node()) add_names(inner, read);
  for (const onnx::ValueInfoProto& output : body.output()) read.insert(output.name());
  for (const onnx::ValueInfoProto& input : body.input()) read.erase(input.name());
  for (const onnx::TensorProto& tensor : body.initializer()) read.erase(tensor.name());
  for (const onnx::NodeProto& inner : body.node()) {
    for (const std::string& made : inner.output()) read.erase(made);
  }
  names.merge(read);
}

void add_names(const onnx::NodeProto& node, std::set<std::string>& names) {
  names.insert(node.input().begin(), node.input().end());
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) add_captured_names(attribute.g(), names);
    for (const onnx::GraphProto& graph : attribute.graphs()) add_captured_names(graph, names);
  }
}

}  // namespace

std::set<std::string> onnx_names_read(const onnx::NodeProto& node) {
  std::set<std::string> names;
  add_names(node, names);
  return names;
}

std::vector<int> onnx_order(const onnx::GraphProto& graph) {
  const int nodes = graph.node_size();
  std::unordered_map<std::string, int> maker;
  for (int i = 0; i < nodes; ++i) {
    for (const std::string& name : graph.node(i).output()) {
      if (!name.empty()) maker.emplace(name, i);
    }
  }
  std::vector<int> waits_for(static_cast<size_t>(nodes), 0);
  std::vector<std::vector<int>> readers(static_cast<size_t>(nodes));
  for (int i = 0; i < nodes; ++i) {
    for (const std::string& name : onnx_names_read(graph.node(i))) {
      const auto found = maker.find(name);
      if (found == maker.end()) continue;
      ++waits_for[static_cast<size_t>(i)];
      readers[static_cast<size_t>(found->second)].push_back(i);
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes; ++i) {
    if (waits_for[static_cast<size_t>(i)] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const int reader : readers[static_cast<size_t>(order.back())]) {
      if (--waits_for[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
  }
  for (int i = 0; i < nodes; ++i) {
    if (waits_for[static_cast<size_t>(i)] > 0) order.push_back(i);
  }
  return order;
}

}  // namespace tutti

#endif
