// The topology graph of a cluster, as Symphony's network sees it: a vertex for each device and for
// each memory, cache, channel and root complex that has a limit; edges, both ways, between parts
// that a byte passes one after the other. The devices come first, by id.
//
// A "vertex" here is a part of a machine in a network's input; it has nothing to do with ops.

#ifndef TUTTI_POLICY_SYMPHONY_TOPOLOGY_H_
#define TUTTI_POLICY_SYMPHONY_TOPOLOGY_H_

#include <cstdint>
#include <map>
#include <vector>

#include "tutti/plan/cluster.h"

namespace tutti {

// What a vertex is: one of eight sorts, its bandwidth, its slots.
inline constexpr int kVertexFacts = 10;

class Topology {
 public:
  explicit Topology(const Cluster& cluster);

  int size() const { return static_cast<int>(resources_.size()); }
  int devices() const { return devices_; }
  const Resource& resource(int vertex) const { return resources_[static_cast<size_t>(vertex)]; }
  // Of a core: that of its device. -1: none.
  int vertex_of(const Resource& resource) const;
  const std::vector<float>& facts() const { return facts_; }  // size x kVertexFacts
  const std::vector<int32_t>& from() const { return from_; }
  const std::vector<int32_t>& to() const { return to_; }

  // A shared resource of the cluster in terms of vertices: drawing an amount of it takes so much
  // of what the vertex has in all.
  struct Part {
    int vertex = -1;
    double share_of_one = 0;  // 1 / capacity; for a core also divided by the number of cores
  };
  const Part& part_of(int32_t shared) const { return parts_[static_cast<size_t>(shared)]; }

 private:
  void add_vertex(const Resource& resource);
  void add_facts(const Cluster& cluster, int vertex);
  void connect(int a, int b);
  void connect_hop(const Cluster& cluster, MemoryId from, const Hop& hop);
  std::vector<int> ends_at(const Cluster& cluster, MemoryId memory) const;

  int devices_ = 0;
  std::vector<Resource> resources_;
  std::map<Resource, int> vertex_of_;
  std::vector<float> facts_;
  std::vector<int32_t> from_;
  std::vector<int32_t> to_;
  std::vector<Part> parts_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_TOPOLOGY_H_
