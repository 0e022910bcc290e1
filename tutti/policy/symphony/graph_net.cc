#include "tutti/policy/symphony/graph_net.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti {
namespace {

using enum Dense::Bias;

constexpr int kMostEdgeFirst = 64;
constexpr int kVertexFirst = 32;
constexpr int kWholeFirst = 16;
constexpr int kLastFirst = 32;

void leak(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = leaky_relu(values[i], kSymphonyLeak);
}

size_t area(size_t rows, int columns) {
  return rows * static_cast<size_t>(columns);
}

// out[e] = leak(a[from] + b[to] + out[e]), for the first layer of a phi_e.
void join_ends(const GraphRows& graph, const float* a, const float* b, int width, float* out) {
  for (size_t e = 0; e < graph.from.size(); ++e) {
    const float* left = a + area(static_cast<size_t>(graph.from[e]), width);
    const float* right = b + area(static_cast<size_t>(graph.to[e]), width);
    float* row = out + area(e, width);
    for (int i = 0; i < width; ++i) row[i] = leaky_relu(row[i] + left[i] + right[i], kSymphonyLeak);
  }
}

// In the order of GraphNet's members.
std::vector<std::tuple<const char*, int, int, Dense::Bias>> layers_of(
    const GraphNet::Shape& shape) {
  const int first = shape.wide ? 64 : 32;
  const int second = first / 2;
  const int vertex_in = shape.vertex_in;
  const int edge_in = shape.edge_in;
  return {{"edge.from", vertex_in, first, yes},
          {"edge.to", vertex_in, first, no},
          {"edge.row", edge_in, first, no},
          {"edge.second", first, second, yes},
          {"vertex.own", vertex_in, kVertexFirst, yes},
          {"vertex.edges", second, kVertexFirst, no},
          {"vertex.second", kVertexFirst, kEmbedding, yes},
          {"whole.first", kEmbedding, kWholeFirst, yes},
          {"whole.second", kWholeFirst, kEmbedding, yes},
          {"again.from", kEmbedding, first, yes},
          {"again.to", kEmbedding, first, no},
          {"again.edge", second, first, no},
          {"again.second", first, second, yes},
          {"last.whole", kEmbedding, kLastFirst, yes},
          {"last.edges", second, kLastFirst, no},
          {"last.second", kLastFirst, kEmbedding, yes}};
}

}  // namespace

void GraphNet::add_parts(const std::string& name, const Shape& shape, std::vector<NetPart>& parts) {
  for (const auto& [layer, in, out, bias] : layers_of(shape)) {
    if (in > 0) add_dense_parts(name + layer, out, in, bias, parts);
  }
}

Result<GraphNet> GraphNet::load(const TensorFile& file, const std::string& name, const Shape& shape,
                                const std::string& path) {
  GraphNet net;
  net.means_ = shape.means;
  net.edge_first_ = shape.wide ? 64 : 32;
  net.edge_second_width_ = net.edge_first_ / 2;
  Dense* const layers[] = {
      &net.edge_from_,    &net.edge_to_,      &net.edge_row_,      &net.edge_second_,
      &net.vertex_own_,   &net.vertex_edges_, &net.vertex_second_, &net.whole_first_,
      &net.whole_second_, &net.again_from_,   &net.again_to_,      &net.again_edge_,
      &net.again_second_, &net.last_whole_,   &net.last_edges_,    &net.last_second_};
  size_t place = 0;
  for (const auto& [layer, in, out, bias] : layers_of(shape)) {
    Dense* target = layers[place++];
    if (in == 0) continue;
    auto loaded = Dense::load(file, name + layer, in, out, bias, path);
    if (!loaded) return loaded.error();
    *target = std::move(*loaded);
  }
  return net;
}

void GraphNet::embed(const GraphRows& graph, std::vector<float>& workspace, float* vertices,
                     float* whole) const {
  const auto v = static_cast<size_t>(graph.vertices);
  const size_t e = graph.from.size();
  const int rows = graph.vertices;
  const auto edges = static_cast<int>(e);
  workspace.assign(area(2 * v, edge_first_) + area(e, edge_first_) + area(e, edge_second_width_) +
                       area(v, edge_second_width_) + area(v, kVertexFirst) + 4 * kMostEdgeFirst,
                   0.0F);
  float* ends_a = workspace.data();
  float* ends_b = ends_a + area(v, edge_first_);
  float* first = ends_b + area(v, edge_first_);
  float* message = first + area(e, edge_first_);
  float* pooled = message + area(e, edge_second_width_);
  float* hidden = pooled + area(v, edge_second_width_);
  float* small = hidden + area(v, kVertexFirst);  // of the graph as a whole
  // Block one.
  edge_from_.apply(graph.rows, rows, ends_a);
  edge_to_.apply(graph.rows, rows, ends_b);
  if (edge_row_.in() > 0) edge_row_.apply(graph.edge_rows, edges, first);
  join_ends(graph, ends_a, ends_b, edge_first_, first);
  edge_second_.apply(first, edges, message);
  leak(message, area(e, edge_second_width_));
  std::vector<float> count(v, 0.0F);
  for (size_t i = 0; i < e; ++i) {
    const auto to = static_cast<size_t>(graph.to[i]);
    float* target = pooled + area(to, edge_second_width_);
    const float* from = message + area(i, edge_second_width_);
    for (int k = 0; k < edge_second_width_; ++k) target[k] += from[k];
    count[to] += 1;
  }
  if (means_) {
    for (size_t i = 0; i < v; ++i) {
      const float share = 1 / std::max(1.0F, count[i]);
      for (int k = 0; k < edge_second_width_; ++k)
        pooled[area(i, edge_second_width_) + static_cast<size_t>(k)] *= share;
    }
  }
  vertex_own_.apply(graph.rows, rows, hidden);
  vertex_edges_.add(pooled, rows, hidden);
  leak(hidden, area(v, kVertexFirst));
  vertex_second_.apply(hidden, rows, vertices);
  leak(vertices, area(v, kEmbedding));
  float* sum = small;
  float* one = small + kMostEdgeFirst;
  float* two = one + kMostEdgeFirst;
  const float vertex_share = means_ ? 1 / static_cast<float>(std::max<size_t>(1, v)) : 1;
  for (size_t i = 0; i < v; ++i) {
    for (int k = 0; k < kEmbedding; ++k)
      sum[k] += vertex_share * vertices[area(i, kEmbedding) + static_cast<size_t>(k)];
  }
  whole_first_.apply(sum, 1, one);
  leak(one, kWholeFirst);
  whole_second_.apply(one, 1, two);
  leak(two, kEmbedding);
  // Block two.
  again_from_.apply(vertices, rows, ends_a);
  again_to_.apply(vertices, rows, ends_b);
  again_edge_.apply(message, edges, first);
  join_ends(graph, ends_a, ends_b, edge_first_, first);
  again_second_.apply(first, edges, message);
  std::fill(sum, sum + edge_second_width_, 0.0F);
  const float edge_share = means_ ? 1 / static_cast<float>(std::max<size_t>(1, e)) : 1;
  for (size_t i = 0; i < e; ++i) {
    for (int k = 0; k < edge_second_width_; ++k)
      sum[k] += edge_share *
                std::max(0.0F, message[area(i, edge_second_width_) + static_cast<size_t>(k)]);
  }
  last_whole_.apply(two, 1, one);
  last_edges_.add(sum, 1, one);
  leak(one, kLastFirst);
  last_second_.apply(one, 1, whole);
  leak(whole, kEmbedding);
}

}  // namespace tutti
