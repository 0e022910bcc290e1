#include "bench/overhead_rivals.h"

#ifdef TUTTI_HAVE_TBB
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include <deque>
#include <memory>
#endif

namespace tutti {

#ifdef TUTTI_HAVE_TBB
namespace {

namespace flow = oneapi::tbb::flow;

class FlowGraph {
 public:
  explicit FlowGraph(const EmptyLayers& layers)
      : two_(oneapi::tbb::global_control::max_allowed_parallelism, 2), layers_(layers) {
    for (int32_t i = 0; i < layers.ops(); ++i) {
      nodes_.emplace_back(graph_, [](const flow::continue_msg&) { return flow::continue_msg(); });
      for (const int32_t before : layers.predecessors(i)) {
        flow::make_edge(nodes_[static_cast<size_t>(before)], nodes_.back());
      }
    }
  }
  void run() {
    for (int32_t i = 0; i < layers_.width; ++i) {
      nodes_[static_cast<size_t>(i)].try_put(flow::continue_msg());
    }
    graph_.wait_for_all();
  }

 private:
  oneapi::tbb::global_control two_;
  EmptyLayers layers_;
  flow::graph graph_;
  std::deque<flow::continue_node<flow::continue_msg>> nodes_;
};

}  // namespace

std::function<void()> open_flow_graph(const EmptyLayers& layers) {
  auto graph = std::make_shared<FlowGraph>(layers);
  return [graph] { graph->run(); };
}

#else

std::function<void()> open_flow_graph(const EmptyLayers&) {
  return {};
}

#endif

}  // namespace tutti
