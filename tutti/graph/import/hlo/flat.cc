#include "tutti/graph/import/hlo/flat.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "tutti/base/fingerprint.h"

namespace tutti {
namespace {

constexpr int64_t kMostInlined = int64_t{1} << 20;  // nodes and edges
constexpr int64_t kMostText = int64_t{1} << 28;     // bytes of names
constexpr int kDeepestCall = 64;

int64_t leaves_of(const HloType& type) {
  return static_cast<int64_t>(type.leaves.size());
}

bool is_scalar(const HloType& type) {
  return type.leaves.size() == 1 && type.leaves[0].dims.empty();
}

bool is_call(const HloInstruction& instruction) {
  return instruction.opcode == "call" && instruction.runs.size() == 1;
}

class Flattener {
 public:
  Flattener(const HloModule& module, bool simplify, bool inline_calls)
      : module_(module), simplify_(simplify), inline_calls_(inline_calls) {}

  HloFlat run(int32_t computation) {
    flat_.results = add_computation(computation, "", nullptr);
    if (simplify_) drop_dead_nodes();
    return std::move(flat_);
  }

 private:
  using Values = std::vector<int32_t>;

  const HloType::Array& type(int32_t value) const { return flat_.values[value].type; }
  const HloNode& maker(int32_t value) const { return flat_.nodes[flat_.values[value].node]; }

  // `arguments`: the leaves of each parameter; nullptr for a computation that is not inlined.
  Values add_computation(int32_t number, const std::string& prefix,
                         const std::vector<Values>* arguments) {
    const HloComputation& computation = module_.computations[number];
    std::vector<Values> leaves(computation.instructions.size());
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const HloInstruction& instruction = computation.instructions[i];
      if (instruction.opcode == "tuple") {
        leaves[i] = gather(instruction, leaves);
      } else if (instruction.opcode == "get-tuple-element") {
        const int32_t tuple = instruction.operands[0];
        const auto& begin = computation.instructions[tuple].type.element_begin;
        leaves[i].assign(
            leaves[tuple].begin() + static_cast<int64_t>(begin[instruction.index]),
            leaves[tuple].begin() + static_cast<int64_t>(begin[instruction.index + 1]));
      } else if (instruction.opcode == "parameter" && arguments != nullptr) {
        leaves[i] = (*arguments)[instruction.index];
      } else if (simplify_ && passes_on(computation, instruction)) {
        leaves[i] = gather(instruction, leaves);
      } else if (inline_calls_ && can_inline(computation, instruction)) {
        std::vector<Values> given;
        for (const int32_t operand : instruction.operands) given.push_back(leaves[operand]);
        leaves[i] = add_computation(instruction.runs[0], prefix + instruction.name + "/", &given);
      } else {
        leaves[i] = add_instruction(computation, instruction, prefix, leaves);
      }
    }
    return computation.root < 0 ? Values{} : leaves[computation.root];
  }

  static Values gather(const HloInstruction& instruction, const std::vector<Values>& leaves) {
    Values all;
    for (const int32_t operand : instruction.operands) {
      all.insert(all.end(), leaves[operand].begin(), leaves[operand].end());
    }
    return all;
  }

  // Whether it hands on what it reads, byte for byte. Layouts are XLA's to choose.
  static bool passes_on(const HloComputation& computation, const HloInstruction& instruction) {
    if (instruction.operands.size() != 1 || instruction.type.leaves.empty()) return false;
    const HloType& read = computation.instructions[instruction.operands[0]].type;
    const std::string& opcode = instruction.opcode;
    if (opcode == "optimization-barrier" || opcode == "opt-barrier") {
      return read.leaves.size() == instruction.type.leaves.size();
    }
    if (read.leaves.size() != 1 || instruction.type.leaves.size() != 1) return false;
    const HloType::Array& from = read.leaves[0];
    const HloType::Array& to = instruction.type.leaves[0];
    if (from.bytes != to.bytes) return false;
    if (opcode == "reshape" || opcode == "bitcast" || opcode == "bitcast-convert") return true;
    if (from.elements() != to.elements()) return false;
    if (opcode == "broadcast")
      return std::is_sorted(instruction.dimensions.begin(), instruction.dimensions.end());
    if (opcode == "convert") return from.dtype == to.dtype && from.dtype != DType::unknown;
    if (opcode != "transpose") return false;
    // Only dimensions of size 1 change places.
    int64_t last = -1;
    for (const int64_t dim : instruction.dimensions) {
      if (dim < 0 || dim >= static_cast<int64_t>(from.dims.size())) return false;
      if (from.dims[dim] == 1) continue;
      if (dim < last) return false;
      last = dim;
    }
    return true;
  }

  // A body whose parameters and root have as many arrays as the call hands over.
  bool can_inline(const HloComputation& computation, const HloInstruction& call) const {
    if (!is_call(call)) return false;
    const HloComputation& body = module_.computations[call.runs[0]];
    if (body.root < 0) return false;
    if (leaves_of(body.instructions[body.root].type) != leaves_of(call.type)) return false;
    for (const HloInstruction& instruction : body.instructions) {
      if (instruction.opcode != "parameter") continue;
      if (instruction.index < 0 || static_cast<size_t>(instruction.index) >= call.operands.size()) {
        return false;
      }
      const HloType& given = computation.instructions[call.operands[instruction.index]].type;
      if (leaves_of(given) != leaves_of(instruction.type)) return false;
    }
    return true;
  }

  Values add_instruction(const HloComputation& computation, const HloInstruction& instruction,
                         const std::string& prefix, const std::vector<Values>& leaves) {
    HloNode node{.name = prefix + instruction.name,
                 .instruction = &instruction,
                 .opcode = instruction.opcode,
                 .operands = gather(instruction, leaves),
                 .flops = instruction.flops};
    for (const int32_t earlier : instruction.runs_after) {
      if (!leaves[earlier].empty()) node.runs_after.push_back(leaves[earlier].front());
    }
    if (!instruction.operands.empty()) {
      const HloType& first = computation.instructions[instruction.operands[0]].type;
      if (!first.leaves.empty()) node.seen = first.leaves[0].dims;
    }
    if (simplify_ && instruction.opcode == "dot") repack_factors(computation, instruction, node);
    node.parameter = instruction.opcode == "parameter";
    node.constant = instruction.opcode == "constant" || (simplify_ && is_foldable(node));
    if (simplify_ && is_batch_norm(node)) return expand_batch_norm(std::move(node));
    return add_node(std::move(node), instruction.type.leaves);
  }

  // XLA's dot_decomposer: a factor that is not a row of matrices, one way round or the other, is
  // written as such first.
  void repack_factors(const HloComputation& computation, const HloInstruction& instruction,
                      HloNode& node) {
    for (size_t side = 0; side < 2 && node.operands.size() == 2; ++side) {
      const HloType& read = computation.instructions[instruction.operands[side]].type;
      if (read.leaves.size() != 1 || maker(node.operands[side]).constant) continue;
      if (is_row_of_matrices(read.leaves[0].dims, instruction.batch_axes[side],
                             instruction.summed_axes[side])) {
        continue;
      }
      HloNode packed{.name = node.name + (side == 0 ? "/lhs" : "/rhs"),
                     .instruction = &instruction,
                     .opcode = "transpose",
                     .operands = {node.operands[side]},
                     .seen = read.leaves[0].dims};
      node.operands[side] = add_node(std::move(packed), {type(node.operands[side])})[0];
    }
  }

  // All batch axes first, in order, then all summed ones and all others, or the other way round.
  static bool is_row_of_matrices(const std::vector<int64_t>& dims,
                                 const std::vector<int64_t>& batch,
                                 const std::vector<int64_t>& summed) {
    if (batch.empty()) return true;  // not known of weights with summed axes in their midst
    int turns = 0;
    int64_t batches = 0;
    bool last_summed = false;
    bool begun = false;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == 1) continue;
      const auto axis = static_cast<int64_t>(i);
      const auto place = std::find(batch.begin(), batch.end(), axis);
      if (place != batch.end()) {
        if (begun || place - batch.begin() < batches) return false;
        batches = place - batch.begin();
        continue;
      }
      const bool now = std::find(summed.begin(), summed.end(), axis) != summed.end();
      if (begun && now != last_summed) ++turns;
      begun = true;
      last_summed = now;
    }
    return turns <= 1;
  }

  // XLA's constant folding leaves broadcasts and iotas to be computed where they are used.
  bool is_foldable(const HloNode& node) const {
    if (node.operands.empty() || node.instruction->side_effect || !node.runs_after.empty()) {
      return false;
    }
    if (node.opcode == "broadcast" || node.opcode.starts_with("rng") || node.opcode == "while" ||
        node.opcode == "conditional" || node.opcode == "call" || node.opcode == "custom-call") {
      return false;
    }
    return std::all_of(node.operands.begin(), node.operands.end(),
                       [&](int32_t value) { return maker(value).constant; });
  }

  // Whether two nodes that read the same make the same.
  bool is_expression(const HloNode& node) const {
    const std::string_view opcode = node.opcode;
    // Texts leave out what large constants hold.
    if (opcode == "constant" && !is_scalar(node.instruction->type)) return false;
    return !node.parameter && !node.instruction->side_effect && node.runs_after.empty() &&
           node.instruction->runs.empty() && !opcode.starts_with("rng") &&
           !opcode.starts_with("all-") && !opcode.starts_with("collective-") &&
           !opcode.ends_with("-start") && !opcode.ends_with("-done") && opcode != "custom-call" &&
           opcode != "reduce-scatter" && opcode != "after-all";
  }

  static uint64_t digest(const HloNode& node) {
    Fingerprint print;
    print.add(node.opcode);
    print.add(node.instruction->details);
    for (const int32_t value : node.operands) print.add(value);
    return print.value();
  }

  bool same(const HloNode& a, const HloNode& b, const std::vector<HloType::Array>& types) const {
    if (a.opcode != b.opcode || a.operands != b.operands || a.seen != b.seen ||
        a.instruction->details != b.instruction->details ||
        static_cast<size_t>(a.value_count) != types.size()) {
      return false;
    }
    for (size_t i = 0; i < types.size(); ++i) {
      const HloType::Array& made = type(a.first_value + static_cast<int32_t>(i));
      if (made.dtype != types[i].dtype || made.dims != types[i].dims ||
          made.bytes != types[i].bytes) {
        return false;
      }
    }
    return true;
  }

  Values add_node(HloNode node, const std::vector<HloType::Array>& types) {
    const auto number = static_cast<int32_t>(flat_.nodes.size());
    if (simplify_ && is_expression(node)) {
      const auto [known, is_new] = expressions_.emplace(digest(node), number);
      const HloNode* earlier = is_new ? nullptr : &flat_.nodes[known->second];
      if (earlier != nullptr && same(*earlier, node, types)) {
        Values values(static_cast<size_t>(earlier->value_count));
        std::iota(values.begin(), values.end(), earlier->first_value);
        return values;
      }
    }
    node.first_value = static_cast<int32_t>(flat_.values.size());
    node.value_count = static_cast<int32_t>(types.size());
    Values made;
    for (const HloType::Array& array : types) {
      made.push_back(static_cast<int32_t>(flat_.values.size()));
      flat_.values.push_back({.node = number, .type = array});
    }
    flat_.nodes.push_back(std::move(node));
    return made;
  }

  // (x, scale, offset) -> (y, mean, variance) and (x, scale, mean, variance, dy) -> (dx, dscale,
  // doffset): both first reduce to two vectors, and then map every element.
  bool is_batch_norm(const HloNode& node) const {
    const auto made = node.instruction->type.leaves.size();
    if (node.opcode == "batch-norm-training") return node.operands.size() == 3 && made == 3;
    return node.opcode == "batch-norm-grad" && node.operands.size() == 5 && made == 3;
  }

  Values expand_batch_norm(HloNode node) {
    const std::vector<HloType::Array>& types = node.instruction->type.leaves;
    const bool training = node.opcode == "batch-norm-training";
    HloNode sums{.name = node.name + "/reduce",
                 .instruction = node.instruction,
                 .opcode = "batch-norm-reduce",
                 .operands = training ? Values{node.operands[0]} : node.operands,
                 .runs_after = node.runs_after,
                 .flops = node.flops / 2,
                 .seen = node.seen};
    const Values vectors = add_node(std::move(sums), {types[1], types[2]});
    HloNode map{.name = node.name,
                .instruction = node.instruction,
                .opcode = "batch-norm-map",
                .operands = node.operands,
                .flops = node.flops / 2,
                .seen = node.seen};
    map.operands.insert(map.operands.end(), vectors.begin(), vectors.end());
    Values made = add_node(std::move(map), {types[0]});
    made.insert(made.end(), vectors.begin(), vectors.end());
    return made;
  }

  // Marks backwards what results and side effects need, and closes the ranks.
  void drop_dead_nodes() {
    std::vector<bool> needed(flat_.nodes.size(), false);
    for (const int32_t value : flat_.results) needed[flat_.values[value].node] = true;
    for (size_t i = flat_.nodes.size(); i-- > 0;) {
      HloNode& node = flat_.nodes[i];
      needed[i] = needed[i] || node.parameter || node.instruction->side_effect;
      if (!needed[i]) continue;
      if (node.constant) {  // what it was worked out of is not needed
        node.operands.clear();
        node.runs_after.clear();
        continue;
      }
      for (const int32_t value : node.operands) needed[flat_.values[value].node] = true;
      for (const int32_t value : node.runs_after) needed[flat_.values[value].node] = true;
    }
    HloFlat live;
    Values renamed(flat_.values.size(), -1);
    for (size_t i = 0; i < flat_.nodes.size(); ++i) {
      if (!needed[i]) continue;
      HloNode node = std::move(flat_.nodes[i]);
      for (int32_t& value : node.operands) value = renamed[value];
      for (int32_t& value : node.runs_after) value = renamed[value];
      const int32_t old = node.first_value;
      node.first_value = static_cast<int32_t>(live.values.size());
      for (int32_t leaf = 0; leaf < node.value_count; ++leaf) {
        renamed[old + leaf] = static_cast<int32_t>(live.values.size());
        live.values.push_back({.node = static_cast<int32_t>(live.nodes.size()),
                               .type = std::move(flat_.values[old + leaf].type)});
      }
      live.nodes.push_back(std::move(node));
    }
    for (const int32_t value : flat_.results) live.results.push_back(renamed[value]);
    flat_ = std::move(live);
  }

  const HloModule& module_;
  bool simplify_;
  bool inline_calls_;
  std::unordered_map<uint64_t, int32_t> expressions_;  // nodes by their digest
  HloFlat flat_;
};

}  // namespace

HloExpansion::HloExpansion(const HloModule& module)
    : size_(module.computations.size(), 0),
      text_(module.computations.size(), 0),
      depth_(module.computations.size(), 0) {
  for (size_t i = 0; i < size_.size(); ++i) {
    for (const HloInstruction& instruction : module.computations[i].instructions) {
      const auto name = static_cast<int64_t>(instruction.name.size());
      size_[i] += 1 + leaves_of(instruction.type);
      text_[i] += name;
      const bool picks = instruction.opcode == "get-tuple-element";
      for (const int32_t operand : instruction.operands) {
        if (!picks) size_[i] += leaves_of(module.computations[i].instructions[operand].type);
      }
      if (!is_call(instruction)) continue;
      const auto called = static_cast<size_t>(instruction.runs[0]);
      size_[i] += size_[called];
      text_[i] += text_[called] + std::min(name, kMostText) * size_[called];
      text_[i] = std::min(text_[i], 2 * kMostText);
      depth_[i] = std::max(depth_[i], depth_[called] + 1);
    }
    size_[i] = std::min(size_[i], 2 * kMostInlined);
  }
}

bool HloExpansion::fits(int32_t computation) const {
  return size_[computation] <= kMostInlined && text_[computation] <= kMostText &&
         depth_[computation] <= kDeepestCall;
}

HloFlat flatten_hlo(const HloModule& module, int32_t computation) {
  return Flattener(module, /*simplify=*/false, /*inline_calls=*/false).run(computation);
}

HloFlat simplify_hlo(const HloModule& module, int32_t computation, bool inline_calls) {
  return Flattener(module, /*simplify=*/true, inline_calls).run(computation);
}

}  // namespace tutti
