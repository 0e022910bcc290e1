// Several graphs side by side as one, for runtimes that run one graph: every op and value of each
// part, and no edge between two parts.
//
// Graph inputs that are everywhere are the same numbers in every part of one graph, and stand in
// the whole only once.

#ifndef TUTTI_GRAPH_JOINED_H_
#define TUTTI_GRAPH_JOINED_H_

#include <span>
#include <string>
#include <vector>

#include "tutti/graph/graph.h"

namespace tutti {

struct Joined {
  struct Place {
    int32_t part = 0;
    int32_t index = 0;  // of the op or value in its own graph
  };

  Graph graph;
  std::vector<int32_t> first_op;             // by part: its op o is the whole's first_op + o
  std::vector<std::vector<ValueId>> values;  // by part and value: its place in the whole
  std::vector<Place> op_places;              // by op of the whole
  std::vector<Place> value_places;           // by value; of one that stands for several: the first

  OpId op(int32_t part, OpId own) const {
    return OpId{first_op[static_cast<size_t>(part)] + own.index};
  }
  ValueId value(int32_t part, ValueId own) const {
    return values[static_cast<size_t>(part)][static_cast<size_t>(own.index)];
  }
};

// Op o of part 3 is called "3.o", and so are the groups of ops that share a device; a part that is
// alone keeps its names. A graph may be named several times. Fails (invalid_input) if the whole
// would be too large.
Result<Joined> join_graphs(std::string name, std::span<const Graph* const> parts);

}  // namespace tutti

#endif  // TUTTI_GRAPH_JOINED_H_
