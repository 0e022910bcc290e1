// Which ops belong together: a sharder splits one tensor operation into many ops and says so in
// their attributes. `group` names the operation an op came from; `shard` is the device on which a
// human expert would put the op, counted from 0 and taken modulo the number of devices.
//
// Two more are rules that plans must obey: ops with the same `colocate` share a device, and an op
// with `only_on` runs on devices of that kind alone.

#ifndef TUTTI_GRAPH_GROUPS_H_
#define TUTTI_GRAPH_GROUPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tutti/graph/graph.h"

namespace tutti {

inline constexpr std::string_view kGroupAttribute = "group";
inline constexpr std::string_view kShardAttribute = "shard";
inline constexpr std::string_view kColocateAttribute = "colocate";
inline constexpr std::string_view kOnlyOnAttribute = "only_on";

struct Groups {
  // Names in order of first appearance by op id. An op without the attribute is a group of its own
  // and has an empty name here.
  std::vector<std::string> names;
  std::vector<std::vector<OpId>> members;  // by group, ascending
  std::vector<int32_t> of_op;
  bool named = false;  // some op has the attribute
};

Groups groups_of(const Graph& graph);

// By op; none unless every op has a `shard` that is a whole number.
std::optional<std::vector<int32_t>> shards_of(const Graph& graph);

}  // namespace tutti

#endif  // TUTTI_GRAPH_GROUPS_H_
