#include "tutti/policy/heuristic/greedy_locator.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "tutti/policy/places/fetches.h"
#include "tutti/policy/places/placement.h"

namespace tutti {
namespace {

constexpr double kFlopsPerByte = 1000;

bool all_have_flops(const Problem& problem) {
  for (const OpId op : problem.graph.ops()) {
    if (problem.graph.flops(op) <= 0) return false;
  }
  return !problem.costs.has_given_transfers();
}

class Sites {
 public:
  explicit Sites(const Problem& problem)
      : problem_(problem),
        by_flops_(all_have_flops(problem)),
        placement_(problem),
        fetches_(problem),
        cost_(static_cast<size_t>(problem.machine.size()), 0) {}

  void place(OpId op) {
    DeviceId best{};
    std::tuple<double, double, double> best_cost;  // dearest site, what is brought, this site
    double best_site = 0;
    for (const DeviceId device : placement_.choices(op)) {
      const double moved = moved_to(op, device);
      const double site = cost_[device.index] + work(op, device) + moved;
      const std::tuple cost{std::max(dearest_, site), moved, site};
      if (best.valid() && cost >= best_cost) continue;
      best = device;
      best_cost = cost;
      best_site = site;
    }
    cost_[best.index] = best_site;
    dearest_ = std::max(dearest_, best_site);
    placement_.put(op, best);
    fetches_.place(op, best);
  }

  Result<Plan> to_plan() const { return placement_.to_plan(); }

 private:
  double work(OpId op, DeviceId device) const {
    const auto time = static_cast<double>(problem_.costs.run_time(op, device).count());
    const auto least = static_cast<double>(problem_.costs.least_run_time(op).count());
    if (!by_flops_) return time;
    return problem_.graph.flops(op) * (least > 0 ? time / least : 1);
  }

  double moved_to(OpId op, DeviceId device) const {
    if (!by_flops_) return static_cast<double>(fetches_.time(op, device).count());
    const Graph& graph = problem_.graph;
    double bytes = 0;
    for (const ValueId value : graph.operands(op)) {
      const OpId producer = graph.producer(value);
      if (producer.valid() && placement_.of(producer) != device) {
        bytes += static_cast<double>(graph.bytes(value));
      }
    }
    return kFlopsPerByte * bytes;
  }

  const Problem& problem_;
  bool by_flops_;
  Placement placement_;
  Fetches fetches_;
  std::vector<double> cost_;  // by site
  double dearest_ = 0;
};

}  // namespace

Result<Plan> GreedyLocator::plan(const Problem& problem, const Budget& /*budget*/,
                                 uint64_t /*seed*/) {
  Sites sites(problem);
  for (const OpId op : problem.graph.topological_order()) sites.place(op);
  return sites.to_plan();
}

}  // namespace tutti
