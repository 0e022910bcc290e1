#include "studies/doppler/published/features.h"

#include <algorithm>
#include <utility>

#include "studies/doppler/nn/standardise.h"

namespace tutti {
namespace {

class Maker {
 public:
  explicit Maker(const Problem& problem)
      : problem_(problem), graph_(problem.graph), ops_(static_cast<size_t>(problem.graph.size())) {}

  PublishedFeatures make() {
    out_.ops = graph_.size();
    for (const OpId op : graph_.topological_order()) out_.order.push_back(op.index);
    measure();
    join();
    out_.b_level = levels(Way::to_exit, out_.next);
    t_level_ = levels(Way::to_entry, out_.previous);
    for (const double level : out_.b_level) out_.longest = std::max(out_.longest, level);
    fill_rows();
    name_messages();
    out_.rounds = message_rounds(out_);
    out_.apart = message_rounds_apart(out_);
    return std::move(out_);
  }

 private:
  // comp and comm of every op, in mean run times.
  void measure() {
    double total = 0;
    for (const OpId op : graph_.ops()) total += problem_.costs.mean_run_time_ns(op);
    out_.mean_run_time_ns = std::max(1.0, total / std::max(1, graph_.size()));
    const double devices = problem_.machine.size();
    const double to_others = devices < 2 ? 0 : devices / (devices - 1);
    comm_.assign(ops_, 0);
    for (const OpId op : graph_.ops()) {
      comp_.push_back(problem_.costs.mean_run_time_ns(op) / out_.mean_run_time_ns);
      for (const EdgeId edge : graph_.edges(op)) {
        const OpId producer = graph_.edge_from(edge);
        if (!producer.valid()) continue;
        const double time = to_others * problem_.costs.mean_transfer_time_ns(edge);
        double& comm = comm_[static_cast<size_t>(producer.index)];
        comm = std::max(comm, time / out_.mean_run_time_ns);
      }
    }
  }

  void join() {
    std::vector<std::pair<int32_t, int32_t>> pairs;  // producer, reader
    for (const OpId op : graph_.ops()) {
      for (const EdgeId edge : graph_.edges(op)) {
        const OpId producer = graph_.edge_from(edge);
        if (producer.valid()) pairs.emplace_back(producer.index, op.index);
      }
    }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    std::vector<std::vector<int32_t>> producers(ops_);
    std::vector<std::vector<int32_t>> readers(ops_);
    for (const auto& [from, to] : pairs) {
      producers[static_cast<size_t>(to)].push_back(from);
      readers[static_cast<size_t>(from)].push_back(to);
    }
    out_.neighbours_begin.push_back(0);
    for (size_t op = 0; op < ops_; ++op) {
      auto& all = out_.neighbours;
      all.insert(all.end(), producers[op].begin(), producers[op].end());
      out_.readers_begin.push_back(static_cast<int32_t>(all.size()));
      all.insert(all.end(), readers[op].begin(), readers[op].end());
      out_.neighbours_begin.push_back(static_cast<int32_t>(all.size()));
    }
  }

  // level = comp at the end of a way, else comp + comm + the largest level behind; the op that has
  // that level, the first of equals, goes to `next`.
  std::vector<double> levels(Way way, std::vector<int32_t>& next) {
    std::vector<double> level(ops_, 0);
    next.assign(ops_, -1);
    std::vector<int32_t> order = out_.order;
    if (way == Way::to_exit) std::reverse(order.begin(), order.end());
    for (const int32_t index : order) {
      const auto op = static_cast<size_t>(index);
      level[op] = comp_[op];
      double most = -1;
      for (const int32_t other :
           way == Way::to_exit ? out_.readers_of(op) : out_.producers_of(op)) {
        if (level[static_cast<size_t>(other)] <= most) continue;
        most = level[static_cast<size_t>(other)];
        next[op] = other;
      }
      if (next[op] >= 0) level[op] += comm_[op] + most;
    }
    return level;
  }

  void fill_rows() {
    std::vector<double> columns[kPublishedOpFeatures] = {comp_, out_.b_level, t_level_, {}, {}};
    for (size_t op = 0; op < ops_; ++op) {
      double in = 0;
      for (const int32_t producer : out_.producers_of(op)) {
        in += comm_[static_cast<size_t>(producer)];
      }
      columns[3].push_back(in);
      columns[4].push_back(static_cast<double>(out_.readers_of(op).size()) * comm_[op]);
    }
    for (auto& column : columns) standardise(column);
    for (size_t op = 0; op < ops_; ++op) {
      for (const auto& column : columns) out_.op_rows.push_back(static_cast<float>(column[op]));
    }
  }

  void name_messages() {
    std::vector<double> values(comm_);  // the different ones
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<size_t> kind(ops_);
    for (size_t op = 0; op < ops_; ++op) {
      kind[op] = static_cast<size_t>(std::lower_bound(values.begin(), values.end(), comm_[op]) -
                                     values.begin());
    }
    const size_t kinds = std::min<size_t>(values.size(), kMostMessageKinds);
    std::vector<double> sum(kinds, 0);
    std::vector<double> count(kinds, 0);
    std::vector<size_t> kept(values.size());  // the kind of each different value
    for (size_t i = 0; i < values.size(); ++i) {
      kept[i] = i * kinds / values.size();
      sum[kept[i]] += values[i];
      ++count[kept[i]];
    }
    std::vector<double> sent;  // one for each message
    for (size_t op = 0; op < ops_; ++op) {
      out_.message_kind.push_back(static_cast<int32_t>(kept[kind[op]]));
      const size_t degree = out_.producers_of(op).size() + out_.readers_of(op).size();
      sent.insert(sent.end(), degree, sum[kept[kind[op]]] / count[kept[kind[op]]]);
    }
    standardise(sent);
    out_.message_values.assign(kinds, 0.0F);  // of ops that have no neighbour: 0
    size_t at = 0;
    for (size_t op = 0; op < ops_; ++op) {
      const size_t degree = out_.producers_of(op).size() + out_.readers_of(op).size();
      if (degree == 0) continue;
      out_.message_values[static_cast<size_t>(out_.message_kind[op])] =
          static_cast<float>(sent[at]);
      at += degree;
    }
  }

  const Problem& problem_;
  const Graph& graph_;
  size_t ops_;
  PublishedFeatures out_;
  std::vector<double> comp_;  // by op, in mean run times
  std::vector<double> comm_;
  std::vector<double> t_level_;
};

}  // namespace

PublishedFeatures published_features(const Problem& problem) {
  return Maker(problem).make();
}

void sum_neighbours(const PublishedFeatures& features, const float* x, size_t width, float* sum) {
  std::fill_n(sum, static_cast<size_t>(features.ops) * width, 0.0F);
  for (size_t op = 0; op < static_cast<size_t>(features.ops); ++op) {
    float* target = sum + op * width;
    for (auto i = static_cast<size_t>(features.neighbours_begin[op]);
         i < static_cast<size_t>(features.neighbours_begin[op + 1]); ++i) {
      const float* from = x + static_cast<size_t>(features.neighbours[i]) * width;
      for (size_t k = 0; k < width; ++k) target[k] += from[k];
    }
  }
}

void sum_along(const PublishedFeatures& features, Way way, size_t width, float* rows) {
  const std::vector<int32_t>& next = way == Way::to_exit ? features.next : features.previous;
  const size_t ops = features.order.size();
  for (size_t i = 0; i < ops; ++i) {  // ops later on the path come first
    const auto op = static_cast<size_t>(features.order[way == Way::to_exit ? ops - 1 - i : i]);
    if (next[op] < 0) continue;
    float* target = rows + op * width;
    const float* rest = rows + static_cast<size_t>(next[op]) * width;
    for (size_t k = 0; k < width; ++k) target[k] += rest[k];
  }
}

void sum_along_backward(const PublishedFeatures& features, Way way, size_t width, float* rows) {
  const std::vector<int32_t>& next = way == Way::to_exit ? features.next : features.previous;
  const size_t ops = features.order.size();
  for (size_t i = 0; i < ops; ++i) {
    const auto op = static_cast<size_t>(features.order[way == Way::to_exit ? i : ops - 1 - i]);
    if (next[op] < 0) continue;
    const float* from = rows + op * width;
    float* target = rows + static_cast<size_t>(next[op]) * width;
    for (size_t k = 0; k < width; ++k) target[k] += from[k];
  }
}

}  // namespace tutti
