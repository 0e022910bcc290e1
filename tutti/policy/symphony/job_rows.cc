#include "tutti/policy/symphony/job_rows.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// The largest share of anything but its own device that an op of that kind takes on some device.
double heaviest_draw(const Cluster& cluster, const Job& job, OpId op) {
  double most = 0;
  for (const DeviceId device : job.devices_for(op)) {
    for (const Draw& draw : cluster.draws(job.kind(op), cluster.first_slot(device))) {
      const SharedResource& shared = cluster.resources()[draw.resource];
      const bool own = (shared.resource.kind == Resource::Kind::device ||
                        shared.resource.kind == Resource::Kind::core) &&
                       shared.resource.index == device.index;
      if (!own) most = std::max(most, draw.amount / shared.capacity);
    }
  }
  return most;
}

// The longest path from each op to the end of the job, every op on its quickest device.
std::vector<double> ways_to_the_end(const Job& job) {
  const Graph& graph = job.graph();
  std::vector<double> way(static_cast<size_t>(graph.size()), 0.0);
  const auto order = graph.topological_order();
  for (auto op = order.rbegin(); op != order.rend(); ++op) {
    way[op->index] += static_cast<double>(job.least_run_time(*op).count());
    for (const EdgeId edge : graph.edges(*op)) {
      const OpId producer = graph.edge_from(edge);
      if (producer.valid()) way[producer.index] = std::max(way[producer.index], way[op->index]);
    }
  }
  return way;
}

}  // namespace

float log_of_time(double ns) {
  return static_cast<float>((std::log10(std::max(ns, 1.0)) - 3) / 6);
}

float log_of_bytes(double bytes) {
  return static_cast<float>(std::log10(1 + bytes) / 9);
}

JobRows rows_of(const Cluster& cluster, const Job& job) {
  const Graph& graph = job.graph();
  JobRows made;
  made.ops = graph.size();
  made.critical_path_ns = static_cast<double>(std::max<int64_t>(1, job.critical_path().count()));
  made.rank_ns = ways_to_the_end(job);
  std::vector<int> readers(static_cast<size_t>(graph.size()), 0);
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      ++readers[producer.index];
      const float bytes = log_of_bytes(static_cast<double>(graph.bytes(graph.edge_value(edge))));
      for (const bool forward : {true, false}) {
        made.from.push_back(forward ? producer.index : op.index);
        made.to.push_back(forward ? op.index : producer.index);
        made.edge_rows.push_back(bytes);
        made.edge_rows.push_back(forward ? 1.0F : 0.0F);
      }
    }
  }
  for (const OpId op : graph.ops()) {
    const auto least = static_cast<double>(job.least_run_time(op).count());
    double bytes = 0;
    for (const EdgeId edge : graph.edges(op))
      bytes += static_cast<double>(graph.bytes(graph.edge_value(edge)));
    const float row[kOpRow] = {
        static_cast<float>(made.rank_ns[op.index] / made.critical_path_ns),
        log_of_time(least),
        log_of_time(made.rank_ns[op.index]),
        static_cast<float>(std::log(std::max(1.0, job.costs().mean_run_time_ns(op) / least)) / 3),
        log_of_bytes(bytes),
        static_cast<float>(std::log1p(readers[op.index]) / 2),
        static_cast<float>(job.devices_for(op).size()) /
            static_cast<float>(cluster.machine().size()),
        static_cast<float>(heaviest_draw(cluster, job, op)),
    };
    made.rows.insert(made.rows.end(), row, row + kOpRow);
  }
  return made;
}

}  // namespace tutti
