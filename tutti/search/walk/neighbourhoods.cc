#include "tutti/search/walk/neighbourhoods.h"

#include <algorithm>

namespace tutti {

LargeNeighbourhoods::LargeNeighbourhoods(const Problem& problem, Guide* guide)
    : problem_(problem), guide_(guide) {}

void LargeNeighbourhoods::put(Plan& plan, OpId op, DeviceId device) const {
  const int group = problem_.colocation_group(op);
  if (group < 0) {
    plan.placement[op.index] = device;
    return;
  }
  for (const OpId member : problem_.members(group)) plan.placement[member.index] = device;
}

OpId LargeNeighbourhoods::draw_first(Rng& rng) const {
  if (looked_ && rng.below(2) == 0) return guide_->draw_op(rng);
  if (!critical_.empty() && rng.below(4) != 0) return critical_[rng.below(critical_.size())];
  return OpId{static_cast<int32_t>(rng.below(static_cast<uint64_t>(problem_.graph.size())))};
}

void LargeNeighbourhoods::choose(Rng& rng) {
  const Graph& graph = problem_.graph;
  const size_t size = 2 + rng.below(9);
  chosen_.clear();
  chosen_.push_back(draw_first(rng));
  const auto add = [&](OpId op) {
    if (op.valid() && std::find(chosen_.begin(), chosen_.end(), op) == chosen_.end()) {
      chosen_.push_back(op);
    }
  };
  for (size_t i = 0; i < chosen_.size() && chosen_.size() < size; ++i) {
    const OpId op = chosen_[i];
    for (const EdgeId edge : graph.edges(op)) {
      if (chosen_.size() < size) add(graph.edge_from(edge));
    }
    for (const EdgeId edge : graph.out_edges(op)) {
      if (chosen_.size() < size) add(graph.edge_to(edge));
    }
  }
  for (size_t i = chosen_.size(); i > 1; --i) std::swap(chosen_[i - 1], chosen_[rng.below(i)]);
}

void LargeNeighbourhoods::improve(Walk& walk, Evaluator& evaluator, const BudgetSlice& slice,
                                  const Progress& progress, Rng& rng) {
  const int64_t before = evaluator.evaluations();
  const auto over = [&] {
    return walk.best_cost <= slice.good_enough ||
           progress.over(slice, evaluator.evaluations() - before);
  };
  if (over() || evaluator.cost(walk.plan) == kNoPlan) return;  // time is up
  looked_ = guide_ != nullptr &&
            (!guide_->is_rested(progress) || guide_->look_at(walk.plan, evaluator.stop()));
  evaluator.simulator().critical_path(critical_);
  int idle = 0;  // times in a row that no chosen op had a second device
  while (!over()) {
    choose(rng);
    const double cost_before = walk.cost;
    bool moved = false;
    const int64_t at = evaluator.evaluations();
    for (const OpId op : chosen_) {
      const DeviceId own = walk.plan.placement[op.index];
      DeviceId best = own;
      for (const DeviceId device : problem_.devices_for(op)) {
        if (device == own || over()) continue;
        put(walk.plan, op, device);
        const double cost = evaluator.cost(walk.plan, walk.cost);
        if (cost > walk.cost) continue;
        // Equal cost moves too: plateaus are wide if few ops are critical.
        if (cost < walk.cost || rng.below(2) == 0) best = device;
        walk.cost = cost;
      }
      put(walk.plan, op, best);
      moved = moved || best != own;
      if (over()) break;
    }
    walk.note_best();
    if (moved && walk.cost < cost_before) {
      if (evaluator.cost(walk.plan) == kNoPlan) return;
      evaluator.simulator().critical_path(critical_);
    }
    idle = evaluator.evaluations() == at ? idle + 1 : 0;
    if (idle > 10000) return;  // nothing can move here
  }
}

}  // namespace tutti
