#include "tutti/search/walk/moves.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tutti {

Moves::Moves(const Problem& problem, bool ordering)
    : problem_(problem),
      ordering_(ordering),
      keep_moves_(problem),
      groups_(groups_of(problem.graph)) {
  const Graph& graph = problem.graph;
  neighbour_begin_.push_back(0);
  for (const OpId op : graph.ops()) {
    for (const EdgeId edge : graph.edges(op)) {
      if (graph.edge_from(edge).valid()) neighbours_.push_back(graph.edge_from(edge));
    }
    for (const EdgeId edge : graph.out_edges(op)) neighbours_.push_back(graph.edge_to(edge));
    neighbour_begin_.push_back(static_cast<int32_t>(neighbours_.size()));
  }
  picked_at_.assign(static_cast<size_t>(graph.size()), 0);
}

OpId Moves::draw_op(std::span<const OpId> hot, Rng& rng) const {
  if (guide_ != nullptr && rng.below(2) == 0) return guide_->draw_op(rng);
  if (!hot.empty() && rng.below(2) == 0) return hot[rng.below(hot.size())];
  return OpId{static_cast<int32_t>(rng.below(static_cast<uint64_t>(problem_.graph.size())))};
}

DeviceId Moves::draw_other_device(const Plan& plan, OpId op, Rng& rng) const {
  const auto devices = problem_.devices_for(op);
  if (devices.size() < 2) return {};
  const DeviceId own = plan.placement[op.index];
  if (guide_ != nullptr && rng.below(2) == 0) return guide_->draw_device(op, own, rng);
  // Draws from one fewer; the last device takes the place of its own.
  const DeviceId drawn = devices[rng.below(devices.size() - 1)];
  return drawn == own ? devices.back() : drawn;
}

void Moves::move(Plan& plan, OpId op, DeviceId device) {
  if (plan.placement[op.index] == device || !problem_.allows(op, device)) return;
  const int group = problem_.colocation_group(op);
  const std::span<const OpId> with =
      group < 0 ? std::span<const OpId>(&op, 1) : problem_.members(group);
  for (const OpId member : with) {
    moved_.emplace_back(member, plan.placement[member.index]);
    plan.placement[member.index] = device;
  }
}

void Moves::undo(Plan& plan) const {
  if (kept_changed_) keep_moves_.undo(plan);
  for (auto it = moved_.rbegin(); it != moved_.rend(); ++it) {
    plan.placement[it->first.index] = it->second;
  }
  for (auto it = reordered_.rbegin(); it != reordered_.rend(); ++it) {
    plan.priority[it->first.index] = it->second;
  }
}

void Moves::to_neighbour(Plan& plan, OpId op, Rng& rng) {
  const auto near = neighbours(op);
  if (near.empty()) return;
  move(plan, op, plan.placement[near[rng.below(near.size())].index]);
}

// Moves a chain of ops: downstream, one reader of each op.
void Moves::chain(Plan& plan, OpId op, Rng& rng) {
  const DeviceId device = draw_other_device(plan, op, rng);
  if (!device.valid()) return;
  const Graph& graph = problem_.graph;
  for (uint64_t length = 2 + rng.below(6); length > 0; --length) {
    move(plan, op, device);
    const auto outputs = graph.outputs(op);
    if (outputs.empty()) return;
    const auto readers = graph.consumers(*outputs.begin());
    if (readers.empty()) return;
    op = graph.edge_to(readers[rng.below(readers.size())]);
  }
}

void Moves::pick(OpId op) {
  picked_at_[op.index] = pick_;
  picked_.push_back(op);
}

void Moves::grow(const Plan& plan, OpId op, size_t size, Rng& rng) {
  picked_.clear();
  ++pick_;
  pick(op);
  for (size_t i = 0; i < picked_.size() && picked_.size() < size; ++i) {
    // A random one of those found so far is next, so that the shape of the set varies.
    std::swap(picked_[i], picked_[i + rng.below(picked_.size() - i)]);
    for (const OpId near : neighbours(picked_[i])) {
      if (picked_.size() >= size) break;
      if (picked(near) || plan.placement[near.index] != plan.placement[op.index]) continue;
      pick(near);
    }
  }
}

void Moves::connected_ops(Plan& plan, OpId op, Rng& rng) {
  const DeviceId device = draw_other_device(plan, op, rng);
  if (!device.valid()) return;
  const auto most =
      static_cast<uint64_t>(std::bit_width(static_cast<uint32_t>(problem_.graph.size())));
  grow(plan, op, size_t{2} << rng.below(most), rng);
  for (const OpId member : picked_) move(plan, member, device);
}

// Two ops, or the connected ops around them, change places.
void Moves::swap(Plan& plan, OpId op, Rng& rng) {
  const OpId other = draw_op({}, rng);
  const DeviceId here = plan.placement[op.index];
  const DeviceId there = plan.placement[other.index];
  if (here == there) return;
  const size_t size = size_t{1} << rng.below(4);
  grow(plan, op, size, rng);
  const std::vector<OpId> going = picked_;
  grow(plan, other, size, rng);
  for (const OpId member : going) move(plan, member, there);
  for (const OpId member : picked_) move(plan, member, here);
}

// Everything that depends on the op and is on one of two devices goes to the other.
void Moves::exchange_devices_behind(Plan& plan, OpId op, Rng& rng) {
  const DeviceId one = plan.placement[op.index];
  const DeviceId two = draw_other_device(plan, op, rng);
  if (!two.valid()) return;
  const Graph& graph = problem_.graph;
  picked_.clear();
  ++pick_;
  pick(op);
  for (size_t i = 0; i < picked_.size(); ++i) {
    for (const EdgeId edge : graph.out_edges(picked_[i])) {
      if (!picked(graph.edge_to(edge))) pick(graph.edge_to(edge));
    }
  }
  for (const OpId member : picked_) {
    const DeviceId device = plan.placement[member.index];
    if (device == one) move(plan, member, two);
    if (device == two) move(plan, member, one);
  }
}

void Moves::pick_groups(OpId op, Rng& rng) {
  picked_.clear();
  ++pick_;
  size_t groups = size_t{1} << rng.below(4);
  const auto pick_group = [&](OpId member) {
    for (const OpId one : groups_.members[static_cast<size_t>(groups_.of_op[member.index])]) {
      pick(one);
    }
    --groups;
  };
  pick_group(op);
  for (size_t i = 0; i < picked_.size() && groups > 0; ++i) {
    std::swap(picked_[i], picked_[i + rng.below(picked_.size() - i)]);
    for (const OpId near : neighbours(picked_[i])) {
      if (groups > 0 && !picked(near)) pick_group(near);
    }
  }
}

void Moves::pick_turns(const Plan& plan, OpId op, Rng& rng) {
  const size_t size = plan.priority.size();
  turns_.clear();
  for (const OpId one : problem_.graph.ops()) turns_.push_back(one);
  const auto earlier = [&](OpId a, OpId b) {
    return std::pair(plan.priority[a.index], a.index) < std::pair(plan.priority[b.index], b.index);
  };
  std::sort(turns_.begin(), turns_.end(), earlier);
  const auto at = static_cast<size_t>(std::lower_bound(turns_.begin(), turns_.end(), op, earlier) -
                                      turns_.begin());
  const size_t length =
      std::min(size, size_t{8} << rng.below(static_cast<uint64_t>(std::bit_width(size))));
  const size_t before = rng.below(length);
  const size_t begin = at - std::min(at, before);
  const size_t end = std::min(size, begin + length);
  picked_.assign(turns_.begin() + static_cast<std::ptrdiff_t>(begin),
                 turns_.begin() + static_cast<std::ptrdiff_t>(end));
}

// A stage of the graph gathers on one device, leaves a device, or two devices change places in it.
// Local moves do not get there: as long as only a part of a stage has moved, values go to and fro.
void Moves::stage(Plan& plan, OpId op, Rng& rng) {
  const DeviceId one = plan.placement[op.index];
  const DeviceId two = draw_other_device(plan, op, rng);
  if (!two.valid()) return;
  if (groups_.named && rng.below(2) == 0) {
    pick_groups(op, rng);
  } else {
    pick_turns(plan, op, rng);
  }
  const uint64_t kind = rng.below(4);
  for (const OpId member : picked_) {
    const DeviceId device = plan.placement[member.index];
    if (kind == 0) {
      move(plan, member, two);
    } else if (device == one) {
      move(plan, member, two);
    } else if (kind == 1 && device == two) {
      move(plan, member, one);
    }
  }
}

// The op goes just before or behind another of its device.
void Moves::reorder(Plan& plan, OpId op, Rng& rng) {
  for (int tries = 0; tries < 8; ++tries) {
    const OpId other = draw_op({}, rng);
    if (other == op || plan.placement[other.index] != plan.placement[op.index]) continue;
    reordered_.emplace_back(op, plan.priority[op.index]);
    if (rng.below(2) == 0) {
      reordered_.emplace_back(other, plan.priority[other.index]);
      std::swap(plan.priority[op.index], plan.priority[other.index]);
    } else {
      plan.priority[op.index] = plan.priority[other.index] + (rng.below(2) == 0 ? 1 : -1);
    }
    return;
  }
}

// From a quarter of the scale up to all of it; logarithms are even.
size_t Moves::draw_size(Rng& rng) const {
  return static_cast<size_t>(std::max(1.0, scale_ * std::pow(0.25, rng.uniform())));
}

// A device of a random neighbour of the picked set, so that those it exchanges most with are
// likeliest; invalid if all neighbours are on its own.
DeviceId Moves::draw_device_beside(const Plan& plan, DeviceId own, Rng& rng) const {
  for (int tries = 0; tries < 16; ++tries) {
    const OpId member = picked_[rng.below(picked_.size())];
    const auto near = neighbours(member);
    if (near.empty()) continue;
    const DeviceId device = plan.placement[near[rng.below(near.size())].index];
    if (device != own) return device;
  }
  return {};
}

bool Moves::propose_sets(Plan& plan, std::span<const OpId> hot, Rng& rng) {
  const OpId op = draw_op(hot, rng);
  const DeviceId own = plan.placement[op.index];
  const uint64_t kind = rng.below(100);
  grow(plan, op, draw_size(rng), rng);
  if (ordering_ && kind >= 85) {
    // All of the set come closer to when another op runs.
    const int64_t other = plan.priority[rng.below(plan.priority.size())];
    if (other == plan.priority[op.index]) return false;
    for (const OpId member : picked_) {
      reordered_.emplace_back(member, plan.priority[member.index]);
      plan.priority[member.index] += (other - plan.priority[member.index]) / 4;
    }
    return true;
  }
  DeviceId device;
  if (kind < 40) device = draw_device_beside(plan, own, rng);
  if (!device.valid()) device = draw_other_device(plan, op, rng);
  if (!device.valid()) return false;
  const bool exchanged = kind >= 65;
  const std::vector<OpId> going = picked_;
  if (exchanged) {
    // As much comes back, so that both devices have as much to do as before.
    OpId back;
    for (int tries = 0; tries < 16 && !back.valid(); ++tries) {
      const OpId drawn = draw_op({}, rng);
      if (plan.placement[drawn.index] == device) back = drawn;
    }
    if (back.valid()) {
      grow(plan, back, going.size(), rng);
    } else {
      picked_.clear();
    }
  }
  for (const OpId member : going) move(plan, member, device);
  if (exchanged) {
    for (const OpId member : picked_) move(plan, member, own);
  }
  return !moved_.empty();
}

bool Moves::propose(Plan& plan, std::span<const OpId> hot, Rng& rng) {
  moved_.clear();
  reordered_.clear();
  kept_changed_ = plan.weights.stated();
  if (!kept_changed_) {
    return scale_ > 1 ? propose_sets(plan, hot, rng) : propose_ops(plan, hot, rng);
  }
  keep_moves_.begin(plan);
  if (rng.below(3) == 0) return keep_moves_.propose(plan, rng);
  const bool changed = propose_ops(plan, hot, rng);
  if (!moved_.empty()) keep_moves_.repair(plan, rng);
  return changed;
}

bool Moves::propose_ops(Plan& plan, std::span<const OpId> hot, Rng& rng) {
  const OpId op = draw_op(hot, rng);
  const uint64_t kind = rng.below(100);
  if (ordering_ && kind >= 70) {
    reorder(plan, op, rng);
  } else {
    const uint64_t share = ordering_ ? kind * 100 / 70 : kind;
    if (share < 35) {
      if (const DeviceId device = draw_other_device(plan, op, rng); device.valid()) {
        move(plan, op, device);
      }
    } else if (share < 55) {
      to_neighbour(plan, op, rng);
    } else if (share < 65) {
      chain(plan, op, rng);
    } else if (share < 80) {
      connected_ops(plan, op, rng);
    } else if (share < 90) {
      swap(plan, op, rng);
    } else if (share < 94) {
      exchange_devices_behind(plan, op, rng);
    } else {
      stage(plan, op, rng);
    }
  }
  return !moved_.empty() || !reordered_.empty();
}

}  // namespace tutti
