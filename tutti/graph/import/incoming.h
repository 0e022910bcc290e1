// Edges of a list grouped by the op they lead to, for formats that list edges apart from ops.

#ifndef TUTTI_GRAPH_IMPORT_INCOMING_H_
#define TUTTI_GRAPH_IMPORT_INCOMING_H_

#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_INCOMING_H_
