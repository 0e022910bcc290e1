#include "tutti/calibrate/input_cache.h"

#include <cstring>

#include "tutti/kernels/inputs.h"

namespace tutti {
namespace {

// The same operand of the first op.
ValueId first_copy(const Graph& graph, ValueId value) {
  const auto readers = graph.consumers(value);
  if (readers.empty()) return value;
  const OpId op = graph.edge_to(readers[0]);
  const int32_t place = readers[0].index - (*graph.edges(op).begin()).index;
  return graph.operands(OpId{0})[static_cast<size_t>(place)];
}

}  // namespace

void InputCache::fill(const Experiment& experiment, ValueId value, const Block& block) {
  const Graph& graph = experiment.graph;
  const ValueId like = experiment.alike ? first_copy(graph, value) : value;
  const auto bytes = static_cast<size_t>(graph.bytes(value));
  const auto known = kept_.find({graph.fingerprint(), like.index});
  if (known != kept_.end()) {
    std::memcpy(block.data, known->second.data(), bytes);
    return;
  }
  fill_input(graph, like, /*seed=*/1, block);
  if (bytes_ + bytes > kMostBytes) return;
  bytes_ += bytes;
  const auto* data = static_cast<const std::byte*>(block.data);
  kept_.emplace(std::pair(graph.fingerprint(), like.index),
                std::vector<std::byte>(data, data + bytes));
}

}  // namespace tutti
