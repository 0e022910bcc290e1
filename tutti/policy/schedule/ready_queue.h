// A ReadyQueue hands out the ops of a graph, each after all of its producers, and of those that
// are ready the one with the highest key first. Equal keys go by ascending tie, then by id.

#ifndef TUTTI_POLICY_SCHEDULE_READY_QUEUE_H_
#define TUTTI_POLICY_SCHEDULE_READY_QUEUE_H_

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "tutti/graph/graph.h"

namespace tutti {

class ReadyQueue {
 public:
  // Keeps references to graph and key.
  ReadyQueue(const Graph& graph, const std::vector<double>& key, std::vector<uint64_t> tie = {})
      : graph_(graph),
        key_(key),
        tie_(std::move(tie)),
        missing_(static_cast<size_t>(graph.size()), 0) {
    for (const OpId op : graph.ops()) {
      missing_[op.index] += graph.made_operands(op);
      if (missing_[op.index] == 0) push(op);
    }
  }

  bool empty() const { return heap_.empty(); }

  // Takes the next op out; its readers may become ready by that.
  OpId pop() {
    const OpId op = heap_.top().op;
    heap_.pop();
    for (const EdgeId edge : graph_.out_edges(op)) {
      const OpId reader = graph_.edge_to(edge);
      if (--missing_[reader.index] == 0) push(reader);
    }
    return op;
  }

 private:
  struct Entry {
    double key;
    uint64_t tie;
    OpId op;
    friend bool operator<(const Entry& a, const Entry& b) {
      if (a.key != b.key) return a.key < b.key;
      return a.tie != b.tie ? a.tie > b.tie : a.op > b.op;
    }
  };

  void push(OpId op) { heap_.push({key_[op.index], tie_.empty() ? 0 : tie_[op.index], op}); }

  const Graph& graph_;
  const std::vector<double>& key_;
  std::vector<uint64_t> tie_;  // by op, or empty
  std::vector<int32_t> missing_;
  std::priority_queue<Entry> heap_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SCHEDULE_READY_QUEUE_H_
