// For JSON formats that list nodes and edges apart: reading both lists, and the edges grouped by
// the op they lead to.

#ifndef TUTTI_GRAPH_IMPORT_INCOMING_H_
#define TUTTI_GRAPH_IMPORT_INCOMING_H_

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/file/fields.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/import/text.h"

namespace tutti {

class Incoming {
 public:
  // destinations[i] is the op that edge i leads to; requires each in [0, ops).
  Incoming(const std::vector<int32_t>& destinations, int32_t ops)
      : begin_(static_cast<size_t>(ops) + 1, 0), edges_(destinations.size()) {
    for (const int32_t to : destinations) ++begin_[static_cast<size_t>(to) + 1];
    for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    std::vector<int64_t> next(begin_.begin(), begin_.end() - 1);
    for (size_t edge = 0; edge < destinations.size(); ++edge) {
      edges_[static_cast<size_t>(next[static_cast<size_t>(destinations[edge])]++)] = edge;
    }
  }

  // Indices into the list, in the order of the list.
  std::span<const size_t> of(int32_t op) const {
    return {edges_.data() + begin_[static_cast<size_t>(op)],
            edges_.data() + begin_[static_cast<size_t>(op) + 1]};
  }

 private:
  std::vector<int64_t> begin_;
  std::vector<size_t> edges_;
};

// Reads {"nodes": [...], "edges": [...]}, item by item. The reader has
//
//   Result<void> take_node(const Document& item);
//   Result<void> take_edge(const Document& item);
//   Result<void> resolve_edges();             // after the last item; fills in
//   std::vector<int32_t> to_op;               // by edge
//   int32_t op_count() const;
//   void add_inputs(GraphBuilder& builder);
//   void add_op(GraphBuilder& builder, int32_t op, const Incoming& incoming);
//   void take_header(Fields& fields);         // the other keys
//   void add_to(Imported& imported);          // what they say
template <class Reader>
Result<Imported> read_nodes_and_edges(Source& source, Reader reader) {
  const Result<Document> root =
      read_json_streamed(source, {"nodes", "edges"}, [&](std::string_view key, Document&& item) {
        return key == "nodes" ? reader.take_node(item) : reader.take_edge(item);
      });
  if (!root) return root.error();
  Fields fields(*root, source.name(), "graph");
  const std::string name =
      Reader::kHasName ? fields.text("name", graph_name_of(source)) : graph_name_of(source);
  fields.items("nodes");
  fields.items("edges");
  reader.take_header(fields);
  if (auto done = fields.done_with_foreign_keys(); !done) return done.error();
  if (auto resolved = reader.resolve_edges(); !resolved) return resolved.error();
  GraphBuilder builder(name);
  reader.add_inputs(builder);
  const Incoming incoming(reader.to_op, reader.op_count());
  for (int32_t op = 0; op < reader.op_count() && !builder.too_large(); ++op) {
    reader.add_op(builder, op, incoming);
  }
  Result<Imported> imported = imported_from(std::move(builder).build(), source);
  if (imported) reader.add_to(*imported);
  return imported;
}

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_INCOMING_H_
