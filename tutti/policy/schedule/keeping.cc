#include "tutti/policy/schedule/keeping.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "tutti/policy/schedule/memory.h"
#include "tutti/policy/schedule/tight_memory.h"

namespace tutti {
namespace {

constexpr int64_t kBuffers = 2;  // one is read while the other fills

class Keeping {
 public:
  Keeping(const Problem& problem, Plan& plan)
      : problem_(problem),
        plan_(plan),
        memories_(static_cast<size_t>(problem.machine.memory_count())),
        read_(weights_read_in(problem, plan.placement)),
        others_(other_bytes()) {}

  Result<void> choose() {
    WeightKeeping& keeping = plan_.weights;
    keeping.kept.assign(memories_, {});
    keeping.stream_buffer_bytes.assign(memories_, 0);
    const std::vector<int64_t> largest =
        least_buffer_bytes(problem_, keeping, plan_.placement);  // nothing is kept as yet
    for (size_t i = 0; i < memories_; ++i) {
      const Result<void> chosen = choose_in(i, largest[i]);
      if (!chosen) return chosen;
    }
    return {};
  }

 private:
  // By memory: what is taken by other values at most, and by weights at home.
  std::vector<int64_t> other_bytes() const {
    std::vector<int64_t> bytes(memories_, 0);
    if (!plan_.start.empty()) {
      bytes = peaks_beside_homed_weights(problem_, plan_);
    } else {
      for (const OpId op : problem_.graph.ops()) {
        int64_t& most = bytes[memory_of(op)];
        most = std::max(most, beside_weights(op));
      }
    }
    for (const ValueId weight : problem_.homed_weights()) {
      bytes[static_cast<size_t>(problem_.home(weight).index)] += problem_.graph.bytes(weight);
    }
    return bytes;
  }

  int64_t beside_weights(OpId op) const {
    int64_t bytes = working_set_bytes(problem_.graph, op);
    std::vector<ValueId> weights;
    for (const ValueId value : problem_.graph.operands(op)) {
      if (problem_.is_homed_weight(value)) weights.push_back(value);
    }
    std::sort(weights.begin(), weights.end());
    weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
    for (const ValueId weight : weights) bytes -= problem_.graph.bytes(weight);
    return bytes;
  }

  size_t memory_of(OpId op) const {
    const DeviceId device = plan_.placement[static_cast<size_t>(op.index)];
    return static_cast<size_t>(problem_.machine.memory_of(device).index);
  }

  Result<void> choose_in(size_t memory, int64_t largest) {
    WeightKeeping& keeping = plan_.weights;
    const MemoryId id{static_cast<int32_t>(memory)};
    const int64_t limit = problem_.memory_limit(id);
    int64_t all = 0;
    for (const ValueId weight : read_[memory]) all += problem_.graph.bytes(weight);
    // Weights of no bytes take no room, even where there is none.
    if (limit == kUnlimitedBytes || all == 0 || all <= limit - others_[memory]) {
      keeping.kept[memory] = read_[memory];
      return {};
    }
    int64_t room = limit - others_[memory];
    if (room < largest) return no_room(id, largest - room);
    const int64_t buffer = std::min(room / largest, kBuffers) * largest;
    keeping.stream_buffer_bytes[memory] = buffer;
    room -= buffer;
    for (const ValueId weight : by_value(memory)) {
      if (problem_.graph.bytes(weight) > room) continue;
      room -= problem_.graph.bytes(weight);
      keeping.kept[memory].push_back(weight);
    }
    std::sort(keeping.kept[memory].begin(), keeping.kept[memory].end());
    return {};
  }

  Error no_room(MemoryId memory, int64_t missing) const {
    OpId largest{};
    int64_t most = 0;
    std::vector<ValueId> weights;
    for (const OpId op : problem_.graph.ops()) {
      if (memory_of(op) != static_cast<size_t>(memory.index)) continue;
      find_streamed(problem_, plan_.weights, op, memory, weights);
      int64_t bytes = 0;
      for (const ValueId weight : weights) bytes += problem_.graph.bytes(weight);
      if (bytes <= most) continue;
      largest = op;
      most = bytes;
    }
    return infeasible(fmt::format(
        "even with all weights streamed, op '{}' on '{}' has no room for its {} of weights: {} "
        "bytes "
        "are missing; allow more memory or devices",
        problem_.graph.op_name(largest),
        problem_.machine.device(plan_.placement[static_cast<size_t>(largest.index)]).name,
        bytes_to_text(most), missing));
  }

  // The weights that are read in a memory, the most stream time saved per byte first.
  std::vector<ValueId> by_value(size_t memory) const {
    struct Worth {
      double per_byte;
      int64_t first_read;
      ValueId weight;
    };
    std::vector<Worth> worth;
    for (const ValueId weight : read_[memory]) {
      int64_t first = std::numeric_limits<int64_t>::max();
      OpId before{};
      double reads = 0;
      for (const EdgeId edge : problem_.graph.consumers(weight)) {
        const OpId op = problem_.graph.edge_to(edge);
        if (memory_of(op) != memory || op == before) continue;
        before = op;
        ++reads;
        first = std::min(first, plan_.priority[static_cast<size_t>(op.index)]);
      }
      const auto bytes = static_cast<double>(std::max<int64_t>(1, problem_.graph.bytes(weight)));
      const Duration time = stream_time(problem_, weight, MemoryId{static_cast<int32_t>(memory)});
      worth.push_back({reads * static_cast<double>(time.count()) / bytes, first, weight});
    }
    std::sort(worth.begin(), worth.end(), [](const Worth& a, const Worth& b) {
      return std::tuple(-a.per_byte, a.first_read, a.weight) <
             std::tuple(-b.per_byte, b.first_read, b.weight);
    });
    std::vector<ValueId> sorted;
    for (const Worth& one : worth) sorted.push_back(one.weight);
    return sorted;
  }

  const Problem& problem_;
  Plan& plan_;
  size_t memories_;
  std::vector<std::vector<ValueId>> read_;
  std::vector<int64_t> others_;
};

}  // namespace

std::vector<std::vector<ValueId>> weights_read_in(const Problem& problem,
                                                  const std::vector<DeviceId>& placement) {
  std::vector<std::vector<ValueId>> read(static_cast<size_t>(problem.machine.memory_count()));
  for (const ValueId weight : problem.homed_weights()) {
    for (const EdgeId edge : problem.graph.consumers(weight)) {
      const OpId op = problem.graph.edge_to(edge);
      const MemoryId memory = problem.machine.memory_of(placement[static_cast<size_t>(op.index)]);
      if (memory == problem.home(weight)) continue;
      std::vector<ValueId>& there = read[static_cast<size_t>(memory.index)];
      if (there.empty() || there.back() != weight) there.push_back(weight);
    }
  }
  return read;
}

Duration stream_time(const Problem& problem, ValueId weight, MemoryId to) {
  return problem.costs.transfer_time(weight, problem.home(weight), to);
}

Result<void> choose_keeping(const Problem& problem, Plan& plan) {
  return Keeping(problem, plan).choose();
}

}  // namespace tutti
