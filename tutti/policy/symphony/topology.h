// The topology graph of a cluster, as Symphony's net sees it: a vertex for each device and for
// each core, memory, cache, channel and root complex that has a limit; edges, both ways, between
// parts that a byte passes one after the other, and between a CPU and its cores. The devices come
// first, by id.
//
// A "vertex" here is a part of a machine in the input of a net; it has nothing to do with ops.

#ifndef TUTTI_POLICY_SYMPHONY_TOPOLOGY_H_
#define TUTTI_POLICY_SYMPHONY_TOPOLOGY_H_

#include <cstdint>
#include <map>
#include <vector>

#include "tutti/plan/world/cluster.h"

namespace tutti {

// What a vertex is: one of nine sorts, its bandwidth, its slots.
inline constexpr int kVertexFacts = 11;

class Topology {
 public:
  explicit Topology(const Cluster& cluster);

  int size() const { return static_cast<int>(resources_.size()); }
  int devices() const { return devices_; }
  const Resource& resource(int vertex) const { return resources_[static_cast<size_t>(vertex)]; }
  int vertex_of(const Resource& resource) const;              // -1: none
  const std::vector<float>& facts() const { return facts_; }  // size x kVertexFacts
  const std::vector<int32_t>& from() const { return from_; }
  const std::vector<int32_t>& to() const { return to_; }

  // The vertex of a shared resource of the cluster.
  int vertex_of_shared(int32_t shared) const { return shared_[static_cast<size_t>(shared)]; }

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
  std::vector<int> shared_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_TOPOLOGY_H_
