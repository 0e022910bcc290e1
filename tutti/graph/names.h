// NameIndex finds ops by name. Readers of files that name ops build it once.

#ifndef TUTTI_GRAPH_NAMES_H_
#define TUTTI_GRAPH_NAMES_H_

#include <optional>
#include <string_view>
#include <unordered_map>

#include "tutti/graph/graph.h"

namespace tutti {

class NameIndex {
 public:
  // Keeps a reference to the graph.
  explicit NameIndex(const Graph& graph);

  std::optional<OpId> find(std::string_view name) const;

  // An op whose name an earlier op has too, if there is one.
  std::optional<OpId> duplicate() const { return duplicate_; }

 private:
  std::unordered_map<std::string_view, OpId> ops_;
  std::optional<OpId> duplicate_;
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_NAMES_H_
