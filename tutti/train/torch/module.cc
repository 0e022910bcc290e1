#include "tutti/train/torch/module.h"

#include <algorithm>
#include <limits>

#include "tutti/base/check.h"

namespace tutti {

torch::Tensor view_of(const std::vector<float>& data, std::vector<int64_t> shape) {
  return torch::from_blob(const_cast<float*>(data.data()), shape, torch::kFloat32);
}

torch::Tensor indices(const std::vector<int32_t>& data) {
  return torch::from_blob(const_cast<int32_t*>(data.data()), {static_cast<int64_t>(data.size())},
                          torch::kInt32)
      .to(torch::kInt64);
}

Decisions gather_decisions(const Lesson& lesson) {
  Decisions all;
  const Episode& first = *lesson.episodes.front();
  all.episodes = static_cast<int64_t>(lesson.episodes.size());
  all.steps = static_cast<int64_t>(first.op.size());
  all.devices = first.devices;
  int64_t widest = 1;
  for (const Episode* episode : lesson.episodes) {
    TUTTI_CHECK(static_cast<int64_t>(episode->op.size()) == all.steps);
    for (size_t step = 0; step < episode->op.size(); ++step) {
      widest =
          std::max<int64_t>(widest, episode->ready_begin[step + 1] - episode->ready_begin[step]);
    }
  }
  const int64_t count = all.episodes * all.steps;
  const auto cells = static_cast<size_t>(count * widest);
  std::vector<int32_t> op, device, ready(cells, 0);
  std::vector<uint8_t> is_ready(cells, 0), right_op(cells, 0), allowed, right_device;
  std::vector<float> rows;
  rows.reserve(static_cast<size_t>(count * all.devices * first.device_features));
  size_t row = 0;
  for (const Episode* episode : lesson.episodes) {
    op.insert(op.end(), episode->op.begin(), episode->op.end());
    device.insert(device.end(), episode->device.begin(), episode->device.end());
    allowed.insert(allowed.end(), episode->allowed.begin(), episode->allowed.end());
    right_device.insert(right_device.end(), episode->right_device.begin(),
                        episode->right_device.end());
    rows.insert(rows.end(), episode->rows.begin(), episode->rows.end());
    for (size_t step = 0; step < episode->op.size(); ++step, ++row) {
      size_t cell = row * static_cast<size_t>(widest);
      for (auto i = static_cast<size_t>(episode->ready_begin[step]);
           i < static_cast<size_t>(episode->ready_begin[step + 1]); ++i, ++cell) {
        ready[cell] = episode->ready[i];
        is_ready[cell] = 1;
        right_op[cell] = episode->right_op[i];
      }
    }
  }
  const auto flags = [&](std::vector<uint8_t>& data, int64_t columns) {
    return torch::from_blob(data.data(), {count, columns}, torch::kUInt8).to(torch::kBool);
  };
  all.op = indices(op).view({all.episodes, all.steps});
  all.device = indices(device).view({all.episodes, all.steps});
  all.ready = indices(ready).view({count, widest});
  all.is_ready = flags(is_ready, widest);
  all.right_op = flags(right_op, widest);
  all.rows = view_of(rows, {count, all.devices, first.device_features}).clone();
  all.allowed = flags(allowed, all.devices);
  all.right_device = flags(right_device, all.devices);
  return all;
}

Choice choose(const torch::Tensor& logits, const torch::Tensor& allowed,
              const torch::Tensor& right) {
  // A finite stand-in for minus infinity keeps gradients of empty places at 0.
  constexpr float kNoOdds = -1e9F;
  const torch::Tensor log_odds = torch::log_softmax(logits.masked_fill(~allowed, kNoOdds), -1);
  const torch::Tensor weights = log_odds.exp();
  return {.likelihood = torch::logsumexp(log_odds.masked_fill(~right, kNoOdds), -1),
          .entropy = -(weights * log_odds.masked_fill(~allowed, 0.0F)).sum(-1)};
}

}  // namespace tutti
