#include "studies/doppler/rivals/rival_features.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <string_view>

#include "tutti/base/fingerprint.h"
#include "tutti/policy/doppler/features.h"

namespace tutti {
namespace {

int32_t bucket_of(std::string_view name) {
  Fingerprint digest;
  digest.add(name);
  return static_cast<int32_t>(digest.value() % kKindBuckets);
}

void put_in_order(RivalFeatures& out) {
  const PublishedFeatures& graph = out.graph;
  const auto ops = static_cast<size_t>(graph.ops);
  const auto later = [&](int32_t a, int32_t b) {
    const double level_a = graph.b_level[static_cast<size_t>(a)];
    const double level_b = graph.b_level[static_cast<size_t>(b)];
    return level_a != level_b ? level_a < level_b : a > b;
  };
  std::priority_queue<int32_t, std::vector<int32_t>, decltype(later)> ready(later);
  std::vector<size_t> missing(ops);
  for (size_t op = 0; op < ops; ++op) {
    missing[op] = graph.producers_of(op).size();
    if (missing[op] == 0) ready.push(static_cast<int32_t>(op));
  }
  out.step.assign(ops, 0);
  while (!ready.empty()) {
    const int32_t op = ready.top();
    ready.pop();
    out.step[static_cast<size_t>(op)] = static_cast<int32_t>(out.order.size());
    out.order.push_back(op);
    for (const int32_t reader : graph.readers_of(static_cast<size_t>(op))) {
      if (--missing[static_cast<size_t>(reader)] == 0) ready.push(reader);
    }
  }
}

void measure_run_times(const Problem& problem, RivalFeatures& out) {
  const double unit = out.graph.mean_run_time_ns;
  const auto devices = static_cast<size_t>(out.devices);
  std::vector<double> slowness(devices, 0);
  std::vector<double> count(devices, 0);
  for (const OpId op : problem.graph.ops()) {
    const double mean = problem.costs.mean_run_time_ns(op);
    out.mean_run_time.push_back(log_of(mean / unit));
    for (size_t d = 0; d < devices; ++d) {
      const DeviceId device{static_cast<int32_t>(d)};
      if (!problem.costs.can_run(op, device)) {
        out.run_time.push_back(out.mean_run_time.back());
        continue;
      }
      const auto time = static_cast<double>(problem.costs.run_time(op, device).count());
      out.run_time.push_back(log_of(time / unit));
      slowness[d] += std::log(std::max(1.0, time) / std::max(1.0, mean));
      ++count[d];
    }
  }
  for (size_t d = 0; d < devices; ++d) {
    out.slowness.push_back(static_cast<float>(slowness[d] / std::max(1.0, count[d])));
  }
}

void measure_values(const Problem& problem, RivalFeatures& out) {
  const Graph& graph = problem.graph;
  const double devices = problem.machine.size();
  const double to_others = devices < 2 ? 0 : devices / (devices - 1);
  std::vector<double> longest(static_cast<size_t>(graph.size()), 0);
  std::vector<double> bytes(longest);
  double total = 0;
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      const OpId producer = graph.edge_from(edge);
      if (!producer.valid()) continue;
      double& most = longest[static_cast<size_t>(producer.index)];
      most = std::max(most, to_others * problem.costs.mean_transfer_time_ns(edge));
    }
    for (const ValueId value : graph.outputs(op)) {
      bytes[static_cast<size_t>(op.index)] += static_cast<double>(graph.bytes(value));
    }
    total += bytes[static_cast<size_t>(op.index)];
  }
  const double mean = std::max(1.0, total / std::max(1, graph.size()));
  for (const double time : longest) {
    out.transfer_time.push_back(log_of(time / out.graph.mean_run_time_ns));
  }
  for (const double count : bytes) out.bytes.push_back(log_of(count / mean));
}

}  // namespace

RivalFeatures rival_features(const Problem& problem) {
  RivalFeatures out;
  out.graph = published_features(problem);
  out.devices = problem.machine.size();
  put_in_order(out);
  measure_run_times(problem, out);
  measure_values(problem, out);
  for (const OpId op : problem.graph.ops()) {
    out.kind.push_back(bucket_of(problem.graph.op_kind_name(op)));
  }
  return out;
}

}  // namespace tutti
