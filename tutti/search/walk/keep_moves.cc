#include "tutti/search/walk/keep_moves.h"

#include <algorithm>

#include "tutti/policy/schedule/keeping.h"

namespace tutti {
namespace {

constexpr uint64_t kMostBuffers = 4;

}  // namespace

KeepMoves::KeepMoves(const Problem& problem)
    : problem_(problem), budget_(static_cast<size_t>(problem.machine.memory_count()), 0) {
  for (size_t i = 0; i < budget_.size(); ++i) {
    most_.push_back(problem.memory_limit(MemoryId{static_cast<int32_t>(i)}));
  }
  for (const ValueId weight : problem.homed_weights()) {
    int64_t& most = most_[static_cast<size_t>(problem.home(weight).index)];
    if (most != kUnlimitedBytes) most -= problem.graph.bytes(weight);
  }
}

int64_t KeepMoves::bytes_kept(const Plan& plan, size_t memory) const {
  int64_t bytes = 0;
  for (const ValueId weight : plan.weights.kept[memory]) bytes += problem_.graph.bytes(weight);
  return bytes;
}

void KeepMoves::begin(const Plan& plan) {
  before_ = plan.weights;
  for (size_t i = 0; i < budget_.size(); ++i) {
    const int64_t taken = bytes_kept(plan, i) + plan.weights.stream_buffer_bytes[i];
    budget_[i] = most_[i] == kUnlimitedBytes ? kUnlimitedBytes : std::max(budget_[i], taken);
  }
}

void KeepMoves::find_read(const Plan& plan) {
  read_ = weights_read_in(problem_, plan.placement);
}

std::vector<ValueId> KeepMoves::streamed(const Plan& plan, size_t memory, Rng& rng) const {
  std::vector<ValueId> weights;
  for (const ValueId weight : read_[memory]) {
    if (!plan.weights.keeps(weight, MemoryId{static_cast<int32_t>(memory)})) {
      weights.push_back(weight);
    }
  }
  for (size_t i = weights.size(); i > 1; --i) std::swap(weights[i - 1], weights[rng.below(i)]);
  return weights;
}

// Drops kept weights at random until they fit next to the buffer, and fills what is left.
void KeepMoves::settle(Plan& plan, size_t memory, int64_t budget, Rng& rng) {
  std::vector<ValueId>& kept = plan.weights.kept[memory];
  int64_t left = budget;
  if (budget != kUnlimitedBytes) {
    left -= bytes_kept(plan, memory) + plan.weights.stream_buffer_bytes[memory];
  }
  while (left < 0 && !kept.empty()) {
    const size_t out = rng.below(kept.size());
    left += problem_.graph.bytes(kept[out]);
    kept.erase(kept.begin() + static_cast<int64_t>(out));
  }
  if (left <= 0) return;
  for (const ValueId weight : streamed(plan, memory, rng)) {
    if (problem_.graph.bytes(weight) > left) continue;
    if (left != kUnlimitedBytes) left -= problem_.graph.bytes(weight);
    kept.insert(std::lower_bound(kept.begin(), kept.end(), weight), weight);
  }
}

void KeepMoves::exchange(Plan& plan, size_t memory, Rng& rng) {
  std::vector<ValueId>& kept = plan.weights.kept[memory];
  const std::vector<ValueId> others = streamed(plan, memory, rng);
  if (others.empty()) return;
  const uint64_t kind = rng.below(4);
  if (kind == 0 && !kept.empty()) {  // one fewer
    kept.erase(kept.begin() + static_cast<int64_t>(rng.below(kept.size())));
    return;
  }
  if (kind != 1 && !kept.empty()) {
    kept.erase(kept.begin() + static_cast<int64_t>(rng.below(kept.size())));
  }
  kept.insert(std::lower_bound(kept.begin(), kept.end(), others[0]), others[0]);
  if (kind == 1) return;  // one more, even if it was never seen to fit
  settle(plan, memory, budget_[memory], rng);
}

void KeepMoves::resize_buffer(Plan& plan, size_t memory, Rng& rng) {
  const int64_t least = least_buffer_bytes(problem_, plan.weights, plan.placement)[memory];
  plan.weights.stream_buffer_bytes[memory] =
      least * static_cast<int64_t>(1 + rng.below(kMostBuffers));
  settle(plan, memory, budget_[memory], rng);
}

bool KeepMoves::propose(Plan& plan, Rng& rng) {
  find_read(plan);
  std::vector<size_t> memories;
  for (size_t i = 0; i < read_.size(); ++i) {
    if (!read_[i].empty() && most_[i] != kUnlimitedBytes) memories.push_back(i);
  }
  if (memories.empty()) return false;
  const size_t memory = memories[rng.below(memories.size())];
  if (rng.below(4) == 0) {
    resize_buffer(plan, memory, rng);
  } else {
    exchange(plan, memory, rng);
  }
  return plan.weights != before_;
}

void KeepMoves::repair(Plan& plan, Rng& rng) {
  find_read(plan);
  for (size_t i = 0; i < read_.size(); ++i) {
    std::erase_if(plan.weights.kept[i], [&](ValueId weight) {
      return !std::binary_search(read_[i].begin(), read_[i].end(), weight);
    });
  }
  const std::vector<int64_t> least = least_buffer_bytes(problem_, plan.weights, plan.placement);
  for (size_t i = 0; i < read_.size(); ++i) {
    int64_t& buffer = plan.weights.stream_buffer_bytes[i];
    buffer = least[i] == 0 ? 0 : std::max(buffer, least[i]);
    settle(plan, i, std::max(budget_[i], buffer), rng);
  }
}

}  // namespace tutti
