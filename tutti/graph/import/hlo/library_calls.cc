#include "tutti/graph/import/hlo/library_calls.h"

namespace tutti {
namespace {

class LibraryCalls {
 public:
  LibraryCalls(const HloFlat& flat, const HloUses& uses) : flat_(flat), uses_(uses) {}

  std::vector<int32_t> find() const {
    std::vector<int32_t> last(flat_.nodes.size(), -1);
    for (size_t i = 0; i < flat_.nodes.size(); ++i) {
      const HloNode& node = flat_.nodes[i];
      if ((node.opcode != "dot" && node.opcode != "convolution") || node.constant) continue;
      std::vector<int32_t> call{static_cast<int32_t>(i)};
      if (node.value_count == 1) extend(call);
      for (const int32_t part : call) last[part] = call.back();
    }
    return last;
  }

 private:
  void extend(std::vector<int32_t>& call) const {
    const HloNode& product = flat_.nodes[call[0]];
    int32_t next = next_of(call.back());
    // A product of matrices can be written transposed.
    if (next >= 0 && product.opcode == "dot" && flat_.nodes[next].opcode == "transpose" &&
        type_of(next).dims.size() == 2) {
      call.push_back(next);
      return;
    }
    if (product.opcode == "dot") {
      for (; next >= 0 && is_of_parts(call.back(), next); next = next_of(next))
        call.push_back(next);
      return;
    }
    if (next >= 0 && adds_bias(product, call.back(), next)) {
      call.push_back(next);
      next = next_of(next);
    }
    if (next >= 0 && is_relu(call.back(), next)) call.push_back(next);
  }

  int32_t next_of(int32_t node) const { return uses_.only_user(flat_.nodes[node].first_value); }
  const HloType::Array& type_of(int32_t node) const {
    return flat_.values[flat_.nodes[node].first_value].type;
  }
  const HloNode& maker(int32_t value) const { return flat_.nodes[flat_.values[value].node]; }

  // What a node of two operands reads besides what `before` makes; nullptr if it is not such a
  // node.
  const HloNode* other_operand(int32_t before, int32_t node) const {
    const std::vector<int32_t>& operands = flat_.nodes[node].operands;
    if (operands.size() != 2 || operands[0] == operands[1]) return nullptr;
    const int32_t made = flat_.nodes[before].first_value;
    return &maker(operands[operands[0] == made ? 1 : 0]);
  }

  // Whether f(a + b) is f(a) + f(b), and no more is written than without it.
  bool is_of_parts(int32_t before, int32_t node) const {
    const std::string_view opcode = flat_.nodes[node].opcode;
    if (opcode == "negate") return true;
    if (opcode == "convert") return type_of(node).bytes <= type_of(before).bytes;
    if (opcode != "multiply" && opcode != "divide") return false;
    const HloNode* other = other_operand(before, node);
    if (other == nullptr) return false;
    if (opcode == "divide" && flat_.nodes[node].operands[0] != flat_.nodes[before].first_value) {
      return false;
    }
    if (other->opcode == "broadcast" && other->operands.size() == 1) {
      other = &maker(other->operands[0]);
    }
    return other->constant && flat_.values[other->first_value].type.elements() <= 1;
  }

  // A vector, broadcast along all axes but that of the features.
  bool adds_bias(const HloNode& product, int32_t before, int32_t node) const {
    if (flat_.nodes[node].opcode != "add" || product.instruction->feature_axis < 0) return false;
    const HloNode* other = other_operand(before, node);
    if (other == nullptr || other->opcode != "broadcast") return false;
    const std::vector<int64_t>& dims = type_of(node).dims;
    const int64_t axis = product.instruction->feature_axis;
    if (axis < 0 || axis >= static_cast<int64_t>(dims.size())) return false;
    const std::vector<int64_t>& map = other->instruction->dimensions;
    int found = 0;
    for (size_t i = 0; i < other->seen.size() && i < map.size(); ++i) {
      if (other->seen[i] == 1) continue;
      if (map[i] != axis || other->seen[i] != dims[axis]) return false;
      ++found;
    }
    return found == 1;
  }

  bool is_relu(int32_t before, int32_t node) const {
    if (flat_.nodes[node].opcode != "maximum") return false;
    const HloNode* other = other_operand(before, node);
    if (other == nullptr) return false;
    if (other->opcode == "broadcast" && other->operands.size() == 1) {
      other = &maker(other->operands[0]);
    }
    return other->constant && other->opcode == "constant" && other->instruction->zero;
  }

  const HloFlat& flat_;
  const HloUses& uses_;
};

}  // namespace

HloUses::HloUses(const HloFlat& flat) : users(flat.values.size()), kept(flat.values.size(), false) {
  for (const int32_t value : flat.results) kept[value] = true;
  for (size_t i = 0; i < flat.nodes.size(); ++i) {
    for (const int32_t value : flat.nodes[i].operands) {
      if (users[value].empty() || users[value].back() != static_cast<int32_t>(i)) {
        users[value].push_back(static_cast<int32_t>(i));
      }
    }
    for (const int32_t value : flat.nodes[i].runs_after) kept[value] = true;
  }
}

std::vector<int32_t> find_library_calls(const HloFlat& flat, const HloUses& uses) {
  return LibraryCalls(flat, uses).find();
}

}  // namespace tutti
