// A graph net (Battaglia et al. 2018) of two blocks, with the widths of Symphony's Table 2, or
// half of that on edges (there are three times as many edges as vertices): the first passes
// messages along edges and gives each vertex an embedding, the second relates edges and gives the
// graph one. The paper does not say which of its blocks serves which graph; here each graph has
// both, one after the other, with weights of its own.
//
//   e  = phi_e([v_from, v_to, row])       64, 32
//   v' = phi_v([v, pool of e into v])     32, 16
//   u  = phi_u(pool of v')                16, 16
//   e' = phi_e([e, v'_from, v'_to])       64, 32
//   u' = phi_u([u, pool of ReLU(e')])     32, 16

#ifndef TUTTI_POLICY_SYMPHONY_GRAPH_NET_H_
#define TUTTI_POLICY_SYMPHONY_GRAPH_NET_H_

#include <span>
#include <string>
#include <vector>

#include "tutti/policy/nn/dense.h"

namespace tutti {

inline constexpr int kEmbedding = 16;  // of a vertex, and of a graph
inline constexpr float kSymphonyLeak = 0.1F;

struct GraphRows {
  int vertices = 0;
  const float* rows = nullptr;
  std::span<const int32_t> from{};
  std::span<const int32_t> to{};
  const float* edge_rows = nullptr;  // if edges have rows
};

class GraphNet {
 public:
  struct Shape {
    int vertex_in = 0;
    int edge_in = 0;    // 0: edges have no rows
    bool wide = false;  // as published
    bool means = true;  // pools are means; false: sums
  };
  // `name` ends with a dot.
  static void add_parts(const std::string& name, const Shape& shape, std::vector<NetPart>& parts);
  static Result<GraphNet> load(const TensorFile& file, const std::string& name, const Shape& shape,
                               const std::string& path);

  // Writes vertices x kEmbedding and kEmbedding numbers. `workspace` is anything.
  void embed(const GraphRows& graph, std::vector<float>& workspace, float* vertices,
             float* whole) const;

 private:
  bool means_ = true;
  int edge_first_ = 0;  // widths
  int edge_second_width_ = 0;
  Dense edge_from_, edge_to_, edge_row_, edge_second_;
  Dense vertex_own_, vertex_edges_, vertex_second_;
  Dense whole_first_, whole_second_;
  Dense again_from_, again_to_, again_edge_, again_second_;
  Dense last_whole_, last_edges_, last_second_;
};

}  // namespace tutti

#endif  // TUTTI_POLICY_SYMPHONY_GRAPH_NET_H_
