#include "tutti/policy/doppler/features.h"

#include <algorithm>
#include <cmath>

#include "tutti/base/check.h"
#include "tutti/graph/analysis.h"
#include "tutti/graph/groups.h"
#include "tutti/policy/schedule/ranks.h"

namespace tutti {
namespace {

// The mean over pairs of different devices.
double mean_transfer(const Problem& problem, EdgeId edge) {
  const double devices = problem.machine.size();
  if (devices < 2) return 0;
  return problem.costs.mean_transfer_time_ns(edge) * devices / (devices - 1);
}

class Maker {
 public:
  explicit Maker(const Problem& problem)
      : problem_(problem),
        graph_(problem.graph),
        upward_(upward_ranks(problem, EdgeWeight::distinct_pairs)),
        downward_(downward_ranks(problem, EdgeWeight::distinct_pairs)),
        levels_(levels(problem.graph)),
        groups_(groups_of(problem.graph)) {}

  ProblemFeatures make() {
    out_.ops = graph_.size();
    for (const OpId op : graph_.topological_order()) out_.order.push_back(op.index);
    measure();
    add_edges();
    follow_ways();
    for (const OpId op : graph_.ops()) add_op(op);
    return std::move(out_);
  }

 private:
  void measure() {
    double total = 0;
    double transfers = 0;
    int edges = 0;
    for (const OpId op : graph_.ops()) {
      total += problem_.costs.mean_run_time_ns(op);
      longest_ = std::max(longest_, upward_[static_cast<size_t>(op.index)]);
      for (const EdgeId edge : graph_.edges(op)) {
        if (!graph_.edge_from(edge).valid()) continue;
        transfers += mean_transfer(problem_, edge);
        ++edges;
      }
    }
    out_.mean_run_time_ns = std::max(1.0, total / std::max(1, graph_.size()));
    transfer_ratio_ = transfers / std::max(1, edges) / out_.mean_run_time_ns;
    parallelism_ = total / (longest_ * problem_.machine.size());
    on_level_.assign(static_cast<size_t>(levels_.depth), 0);
    for (const int32_t level : levels_.of_op) ++on_level_[static_cast<size_t>(level)];
  }

  void add_edges() {
    const size_t ops = static_cast<size_t>(graph_.size());
    in_time_.assign(ops, 0);
    out_time_.assign(ops, 0);
    in_degree_.assign(ops, 0);
    out_degree_.assign(ops, 0);
    for (const OpId op : graph_.ops()) {
      const size_t first = out_.from.size();
      const size_t at = static_cast<size_t>(op.index);
      for (const EdgeId edge : graph_.edges(op)) {
        const OpId producer = graph_.edge_from(edge);
        if (!producer.valid()) continue;
        const double time = mean_transfer(problem_, edge) / out_.mean_run_time_ns;
        out_.from.push_back(producer.index);
        out_.to.push_back(op.index);
        out_.edge_rows.insert(out_.edge_rows.end(), {log_of(time), static_cast<float>(time)});
        in_time_[at] += time;
        const size_t source = static_cast<size_t>(producer.index);
        out_time_[source] = std::max(out_time_[source], time);
        ++in_degree_[at];
        ++out_degree_[source];
      }
      for (size_t i = first; i < out_.from.size(); ++i) {  // its share of what the op waits for
        float& share = out_.edge_rows[i * kEdgeFeatures + 1];
        share = in_time_[at] > 0 ? share / static_cast<float>(in_time_[at]) : 0.0F;
      }
    }
  }

  // The producer and the reader through which the longest paths go; the first of equal ones.
  void follow_ways() {
    const size_t ops = static_cast<size_t>(graph_.size());
    out_.next.assign(ops, -1);
    out_.previous.assign(ops, -1);
    std::vector<double> after(ops, -1);
    std::vector<double> before(ops, -1);
    for (const OpId op : graph_.ops()) {
      for (const EdgeId edge : graph_.edges(op)) {
        const OpId producer = graph_.edge_from(edge);
        if (!producer.valid()) continue;
        const size_t to = static_cast<size_t>(op.index);
        const size_t from = static_cast<size_t>(producer.index);
        const double transfer = mean_transfer(problem_, edge);
        if (transfer + upward_[to] > after[from]) {
          after[from] = transfer + upward_[to];
          out_.next[from] = op.index;
        }
        const double arrival =
            downward_[from] + problem_.costs.mean_run_time_ns(producer) + transfer;
        if (arrival > before[to]) {
          before[to] = arrival;
          out_.previous[to] = producer.index;
        }
      }
    }
  }

  void add_op(OpId op) {
    const size_t at = static_cast<size_t>(op.index);
    const double unit = out_.mean_run_time_ns;
    const double mean = problem_.costs.mean_run_time_ns(op);
    double least = 0;
    double most = 0;
    for (const DeviceId device : problem_.devices_for(op)) {
      const auto time = static_cast<double>(problem_.costs.run_time(op, device).count());
      least = least == 0 ? time : std::min(least, time);
      most = std::max(most, time);
    }
    const double devices = problem_.machine.size();
    const double up = upward_[at] / longest_;
    const double down = downward_[at] / longest_;
    const double level = levels_.of_op[at];
    const auto group = static_cast<size_t>(groups_.of_op[at]);
    const double transient = 1e-9 * static_cast<double>(graph_.transient_bytes(op));
    const float row[kOpFeatures] = {
        log_of(mean / unit),
        log_of(least / unit),
        static_cast<float>(std::min(3.0, std::log(std::max(1.0, most) / std::max(1.0, least)))),
        static_cast<float>(up),
        static_cast<float>(down),
        static_cast<float>(1 - up - down),
        log_of(in_time_[at]),
        log_of(out_time_[at]),
        log_of(in_degree_[at]),
        log_of(out_degree_[at]),
        static_cast<float>((level + 1) / levels_.depth),
        log_of(on_level_[static_cast<size_t>(levels_.of_op[at])] / devices),
        groups_.named ? log_of(static_cast<double>(groups_.members[group].size()) / devices) : 0.0F,
        groups_.named ? 1.0F : 0.0F,
        static_cast<float>(problem_.costs.mean_spread(op)),
        static_cast<float>(static_cast<double>(problem_.devices_for(op).size()) / devices),
        log_of(transient),
        log_of(transfer_ratio_),
        static_cast<float>(std::clamp(std::log(parallelism_), -4.0, 4.0)),
        static_cast<float>(std::log2(devices) / 4),
    };
    out_.op_rows.insert(out_.op_rows.end(), std::begin(row), std::end(row));
    out_.rank.push_back(static_cast<float>(up));
  }

  const Problem& problem_;
  const Graph& graph_;
  std::vector<double> upward_;
  std::vector<double> downward_;
  Levels levels_;
  Groups groups_;
  ProblemFeatures out_;
  double longest_ = 1;
  double transfer_ratio_ = 0;
  double parallelism_ = 1;
  std::vector<int> on_level_;
  std::vector<double> in_time_;  // by op, in mean run times
  std::vector<double> out_time_;
  std::vector<int> in_degree_;
  std::vector<int> out_degree_;
};

}  // namespace

ProblemFeatures problem_features(const Problem& problem) {
  return Maker(problem).make();
}

}  // namespace tutti
