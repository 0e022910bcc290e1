#include "tutti/graph/names.h"

namespace tutti {

NameIndex::NameIndex(const Graph& graph) {
  ops_.reserve(static_cast<size_t>(graph.size()));
  for (const OpId op : graph.ops()) {
    if (!ops_.emplace(graph.op_name(op), op).second && !duplicate_) duplicate_ = op;
  }
}

std::optional<OpId> NameIndex::find(std::string_view name) const {
  const auto found = ops_.find(name);
  if (found == ops_.end()) return std::nullopt;
  return found->second;
}

}  // namespace tutti
