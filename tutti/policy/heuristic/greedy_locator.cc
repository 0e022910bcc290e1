// The greedy locator of the Einsummable engine (Bourgeois et al.; its `alocate01`, as Doppler's
// authors run it). It goes through a sharded graph group by group (graph/groups.h) and block by
// block, where a block is a sum and the partial products that only it reads, and looks for the
// sites of the products and of their sum that keep the cost of the group's most expensive site
// least. A site's cost is the flops done there for this group plus 1000 flops for each byte brought
// there; moving a partial product costs its sender as much as its receiver. Graph inputs are free
// everywhere, and so is what an earlier op has brought to the site.
//
// The ways to aggregate: sites stand in a row in aligned ranges, as wide as there are products (or
// sites), half as wide, and so on down to one site; the products are dealt in turn to the sites of
// one range and summed at one of them. That is at most sites x (1 + log2(products)) ways for a
// block, so all are tried. Other ops are blocks of one product and no sum.
//
// Departures. The engine wants powers of two; we round halves down and cut the last range short.
// It adds up what lies at one site before it sends the sum; here every partial product is an op's
// result and moves by itself, and the sum is an op that has flops too. It takes the first of equal
// ways; we take the one that moves least, then the one whose last op's site costs least. Its sites
// are equal; here a flop counts as many times as the device is slower than the fastest for that op.
// Where some op has no flops (times were measured), run and transfer times take the place of flops
// and bytes. Blocks that constraints do not let go anywhere in any range are placed op by op, and
// in a graph without groups all ops are, as one group. It deals out inputs in turn, which is not a
// plan's to say here.

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tutti/graph/groups.h"
#include "tutti/policy/heuristic/heuristics.h"
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

// By op: the sum of whose block it is a partial product, or an invalid id. A sum reads results of
// its own group; those that no other op reads, and that are no sums themselves, are its products.
std::vector<OpId> sums_of_products(const Graph& graph, const Groups& groups) {
  const auto same_group = [&](OpId a, OpId b) {
    return groups.of_op[static_cast<size_t>(a.index)] == groups.of_op[static_cast<size_t>(b.index)];
  };
  const auto is_sum = [&](OpId op) {
    for (const ValueId value : graph.operands(op)) {
      const OpId producer = graph.producer(value);
      if (producer.valid() && same_group(op, producer)) return true;
    }
    return false;
  };
  std::vector<OpId> sum(static_cast<size_t>(graph.size()));
  if (!groups.named) return sum;
  for (const OpId op : graph.ops()) {
    OpId reader{};
    bool one_reader = true;
    for (const EdgeId edge : graph.out_edges(op)) {
      one_reader = one_reader && (!reader.valid() || reader == graph.edge_to(edge));
      reader = graph.edge_to(edge);
    }
    if (reader.valid() && one_reader && same_group(op, reader) && !is_sum(op))
      sum[op.index] = reader;
  }
  return sum;
}

class Locator {
 public:
  explicit Locator(const Problem& problem)
      : problem_(problem),
        graph_(problem.graph),
        by_flops_(all_have_flops(problem)),
        groups_(groups_of(graph_)),
        placement_(problem),
        fetches_(problem),
        sum_of_(sums_of_products(graph_, groups_)),
        accounts_(groups_.named ? groups_.members.size() : 1),
        place_(static_cast<size_t>(graph_.size())),
        added_(static_cast<size_t>(problem.machine.size()), 0) {}

  Result<Plan> run(const Stop& stop) {
    std::vector<std::vector<OpId>> products(static_cast<size_t>(graph_.size()));
    for (const OpId op : graph_.ops()) {
      if (sum_of_[op.index].valid())
        products[static_cast<size_t>(sum_of_[op.index].index)].push_back(op);
    }
    // All that a block's products read is placed before its sum's turn: none of it is a product.
    for (const OpId op : graph_.topological_order()) {
      if (stop.now()) return out_of_time();
      if (!sum_of_[op.index].valid()) place_block(products[static_cast<size_t>(op.index)], op);
    }
    Result<Plan> plan = placement_.to_plan();
    if (plan && groups_.named) {
      plan->provenance.note = fmt::format("{} blocks of products and their sum", blocks_);
    }
    return plan;
  }

 private:
  // What the sites have done for one group so far.
  struct Account {
    std::unordered_map<int32_t, double> cost{};  // by site
    double most = 0;
    double at(DeviceId site) const {
      const auto found = cost.find(site.index);
      return found == cost.end() ? 0 : found->second;
    }
  };

  // One way to place a block.
  struct Way {
    std::vector<DeviceId> products{};
    DeviceId sum{};
    std::tuple<double, double, double>
        cost{};  // the most expensive site, what is moved, the sum's site
  };

  Account& account_of(OpId op) {
    return accounts_[groups_.named
                         ? static_cast<size_t>(groups_.of_op[static_cast<size_t>(op.index)])
                         : 0];
  }

  void place_block(const std::vector<OpId>& products, OpId sum) {
    best_ = {};
    Account& account = account_of(sum);
    const int sites = problem_.machine.size();
    if (!tied(products, sum)) {
      const int widest = std::min(sites, std::max(1, static_cast<int>(products.size())));
      for (int width = widest; width > 0; width /= 2) {
        for (int begin = 0; begin < sites; begin += width) {
          weigh_range(products, sum, begin, std::min(width, sites - begin), account);
        }
      }
    }
    if (best_.sum.valid()) {
      blocks_ += products.empty() ? 0 : 1;
      for (size_t i = 0; i < products.size(); ++i) put(products[i], best_.products[i], account);
      put(sum, best_.sum, account);
      return;
    }
    for (const OpId op : products) {
      sum_of_[op.index] = OpId{};
      place_block({}, op);
    }
    if (!products.empty()) place_block({}, sum);
  }

  // Colocation may bind ops of one block to each other, which ranges know nothing of.
  bool tied(const std::vector<OpId>& products, OpId sum) const {
    if (products.empty()) return false;
    bool tied = problem_.colocation_group(sum) >= 0;
    for (const OpId op : products) tied = tied || problem_.colocation_group(op) >= 0;
    return tied;
  }

  bool may_go(OpId op, DeviceId device) const {
    const auto choices = placement_.choices(op);
    return std::binary_search(choices.begin(), choices.end(), device);
  }

  // All ways to sum the products at one site of the range, each at the range's next site in turn.
  void weigh_range(const std::vector<OpId>& products, OpId sum, int begin, int width,
                   const Account& account) {
    const auto site_of = [&](size_t product) {
      return DeviceId{begin + static_cast<int>(product % static_cast<size_t>(width))};
    };
    for (size_t i = 0; i < products.size(); ++i) {
      if (!may_go(products[i], site_of(i))) return;
    }
    double moved = 0;
    for (size_t i = 0; i < products.size(); ++i) {
      const double bytes = moved_to(products[i], site_of(i));
      moved += bytes;
      added_[site_of(i).index] += bytes + work(products[i], site_of(i));
      place_[products[i].index] = site_of(i);
      fetches_.place(products[i], site_of(i));
    }
    for (int site = begin; site < begin + width; ++site) {
      if (may_go(sum, DeviceId{site})) {
        weigh_sum(products, sum, DeviceId{site}, moved, {begin, width}, account);
      }
    }
    for (size_t i = 0; i < products.size(); ++i) fetches_.take_back(products[i], site_of(i));
    std::fill_n(added_.begin() + begin, width, 0.0);
  }

  struct Range {
    int begin;
    int width;
  };
  void weigh_sum(const std::vector<OpId>& products, OpId sum, DeviceId site, double moved,
                 Range range, const Account& account) {
    sent_.assign(static_cast<size_t>(range.width), 0);
    double bytes = 0;
    for_each_missing(sum, site, [&](OpId producer, double cost) {
      bytes += cost;
      if (sum_of_[producer.index] == sum) {
        sent_[static_cast<size_t>(place_[producer.index].index - range.begin)] += cost;
      }
    });
    sent_[static_cast<size_t>(site.index - range.begin)] += bytes + work(sum, site);
    double most = account.most;
    double here = 0;
    for (int i = 0; i < range.width; ++i) {
      const DeviceId device{range.begin + i};
      const double cost = account.at(device) + added_[device.index] + sent_[static_cast<size_t>(i)];
      most = std::max(most, cost);
      if (device == site) here = cost;
    }
    const std::tuple cost{most, moved + bytes, here};
    if (best_.sum.valid() && cost >= best_.cost) return;
    best_.sum = site;
    best_.cost = cost;
    best_.products.clear();
    for (const OpId op : products) best_.products.push_back(place_[op.index]);
  }

  void put(OpId op, DeviceId site, Account& account) {
    for_each_missing(op, site, [&](OpId producer, double cost) {
      charge(account, site, cost);
      if (sum_of_[producer.index] == op) charge(account, place_[producer.index], cost);
    });
    charge(account, site, work(op, site));
    place_[op.index] = site;
    placement_.put(op, site);
    fetches_.place(op, site);
  }

  static void charge(Account& account, DeviceId site, double cost) {
    double& sum = account.cost[site.index];
    sum += cost;
    account.most = std::max(account.most, sum);
  }

  double work(OpId op, DeviceId device) const {
    const auto time = static_cast<double>(problem_.costs.run_time(op, device).count());
    const auto least = static_cast<double>(problem_.costs.least_run_time(op).count());
    if (!by_flops_) return time;
    return graph_.flops(op) * (least > 0 ? time / least : 1);
  }

  // What it costs to bring an operand from where its op is.
  double move(EdgeId edge, DeviceId to) const {
    const DeviceId from = place_[graph_.edge_from(edge).index];
    if (!by_flops_) {
      return static_cast<double>(problem_.costs.transfer_time(edge, from, to).count());
    }
    const bool apart = problem_.machine.memory_of(from) != problem_.machine.memory_of(to);
    return apart ? kFlopsPerByte * static_cast<double>(graph_.bytes(graph_.edge_value(edge))) : 0;
  }

  // Visits the producer of each operand that is not there yet with what it costs to bring it.
  template <class Visit>
  void for_each_missing(OpId op, DeviceId device, const Visit& visit) const {
    const auto edges = graph_.edges(op);
    for (const EdgeId edge : edges) {
      const ValueId value = graph_.edge_value(edge);
      // Operands that stand twice stand next to each other: the second costs nothing.
      if (edge != edges.front() && graph_.edge_value(EdgeId{edge.index - 1}) == value) continue;
      const OpId producer = graph_.producer(value);
      if (producer.valid() && !fetches_.brought(value, device)) visit(producer, move(edge, device));
    }
  }

  double moved_to(OpId op, DeviceId device) const {
    double sum = 0;
    for_each_missing(op, device, [&](OpId /*producer*/, double cost) { sum += cost; });
    return sum;
  }

  const Problem& problem_;
  const Graph& graph_;
  bool by_flops_;
  Groups groups_;
  Placement placement_;
  Fetches fetches_;
  std::vector<OpId> sum_of_;       // by op: see sums_of_products
  std::vector<Account> accounts_;  // by group; one for all if there are none
  std::vector<DeviceId> place_;    // by op, also while a way is weighed
  std::vector<double> added_;      // by site: what the way at hand adds but for its sum
  std::vector<double> sent_;       // by site of the range: what its sum adds
  Way best_;
  int blocks_ = 0;
};

}  // namespace

Result<Plan> plan_greedy_locator(const Problem& problem, const Budget& budget, uint64_t /*seed*/) {
  return Locator(problem).run(budget.stop);
}

}  // namespace tutti
