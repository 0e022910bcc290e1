#include "tutti/runtime/local/run/readiness.h"

#include <algorithm>

namespace tutti {

void Readiness::begin(const Plan& plan) {
  absent_.resize(static_cast<size_t>(run_.graph().size()));
  next_in_order_.clear();
  level_.clear();
  count_operands();
  if (!plan.strict_order.empty()) add_strict_orders(plan);
  if (run_.options->bulk_synchronous) add_levels();
}

void Readiness::count_operands() {
  const Graph& graph = run_.graph();
  for (const OpId op : graph.ops()) {
    int32_t absent = 0;
    if (run_.streams != nullptr) absent = run_.streams->awaited(op);
    for (const ValueId value : graph.operands(op)) {
      if (run_.is_aside(value)) continue;
      if (graph.producer(value).valid()) {
        ++absent;
      } else if (!run_.one_memory) {
        const MemoryId home = run_.problem->home(value);
        absent += home.valid() && home != run_.memory_of(op);
      }
    }
    absent_[op.index].store(absent, std::memory_order_relaxed);
  }
}

void Readiness::add_strict_orders(const Plan& plan) {
  next_in_order_.assign(static_cast<size_t>(run_.graph().size()), OpId{});
  for (const std::vector<OpId>& order : plan.strict_order) {
    for (size_t i = 1; i < order.size(); ++i) {
      next_in_order_[static_cast<size_t>(order[i - 1].index)] = order[i];
      absent_[order[i].index].fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void Readiness::add_levels() {
  const Graph& graph = run_.graph();
  level_.assign(static_cast<size_t>(graph.size()), 0);
  ops_of_level_.clear();
  for (const OpId op : graph.topological_order()) {
    int32_t& level = level_[static_cast<size_t>(op.index)];
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (producer.valid()) {
        level = std::max(level, level_[static_cast<size_t>(producer.index)] + 1);
      }
    }
    if (static_cast<size_t>(level) == ops_of_level_.size()) ops_of_level_.emplace_back();
    ops_of_level_[static_cast<size_t>(level)].push_back(op);
    if (level > 0) absent_[op.index].fetch_add(1, std::memory_order_relaxed);
  }
  left_of_level_.resize(ops_of_level_.size());
  for (size_t i = 0; i < ops_of_level_.size(); ++i) {
    left_of_level_[static_cast<int32_t>(i)].store(static_cast<int32_t>(ops_of_level_[i].size()));
  }
}

}  // namespace tutti
