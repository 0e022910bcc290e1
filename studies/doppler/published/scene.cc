#include "studies/doppler/published/scene.h"

#include <algorithm>

#include "studies/doppler/nn/standardise.h"

namespace tutti {

PublishedScene::PublishedScene(const Problem& problem, const PublishedFeatures& features,
                               Bookkeeping bookkeeping, double memory_share)
    : problem_(problem),
      features_(features),
      bookkeeping_(bookkeeping),
      draft_(problem, memory_share),
      load_(static_cast<size_t>(problem.machine.size()), 0),
      start_(static_cast<size_t>(problem.graph.size()), 0),
      finish_(static_cast<size_t>(problem.graph.size()), 0) {}

double PublishedScene::earliest_start(OpId op, DeviceId device) const {
  if (bookkeeping_ == Bookkeeping::correct) return units(draft_.earliest_start(op, device));
  double start = load_[static_cast<size_t>(device.index)];
  for (const EdgeId edge : problem_.graph.edges(op)) {
    const OpId producer = problem_.graph.edge_from(edge);
    if (!producer.valid()) continue;
    const Duration transfer =
        problem_.costs.transfer_time(edge, draft_.placement(producer), device);
    start = std::max(start, finish_[static_cast<size_t>(producer.index)] + units(transfer));
  }
  return start;
}

void PublishedScene::observe(OpId op, std::span<const DeviceId> devices, float* rows) {
  const size_t count = devices.size();
  column_.assign(kPublishedDeviceFeatures * count, 0);
  for (size_t i = 0; i < count; ++i) {
    double time = 0;
    double first = 0;
    double last = 0;
    bool any = false;
    for (const int32_t index : features_.producers_of(static_cast<size_t>(op.index))) {
      const OpId producer{index};
      if (draft_.placement(producer) != devices[i]) continue;
      const auto at = static_cast<size_t>(index);
      time += units(problem_.costs.run_time(producer, devices[i]));
      first = any ? std::min(first, start_[at]) : start_[at];
      last = std::max(last, finish_[at]);
      any = true;
    }
    const double row[] = {load_[static_cast<size_t>(devices[i].index)], time, first, last,
                          earliest_start(op, devices[i])};
    for (size_t k = 0; k < kPublishedDeviceFeatures; ++k) column_[k * count + i] = row[k];
  }
  for (size_t k = 0; k < kPublishedDeviceFeatures; ++k) {
    standardise(std::span(column_).subspan(k * count, count));
    for (size_t i = 0; i < count; ++i) {
      rows[i * kPublishedDeviceFeatures + k] = static_cast<float>(column_[k * count + i]);
    }
  }
}

void PublishedScene::place(OpId op, DeviceId device) {
  const auto at = static_cast<size_t>(op.index);
  double& load = load_[static_cast<size_t>(device.index)];
  start_[at] = bookkeeping_ == Bookkeeping::correct ? earliest_start(op, device) : load;
  const double time = units(problem_.costs.run_time(op, device));
  finish_[at] = start_[at] + time;
  load += time;
  draft_.apply(op, device);
}

}  // namespace tutti
