#include "tutti/graph/import/hlo/module_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tutti/base/fingerprint.h"
#include "tutti/graph/import/hlo/flops.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

constexpr int64_t kMostEdges = int64_t{1} << 26;

double bounded(double flops) {
  return std::min(flops, kMostFlops);
}

}  // namespace

Result<void> HloModuleBuilder::add(Open& open, const HloParts& parts) {
  HloInstruction instruction;
  instruction.name = parts.name;
  instruction.opcode = parts.opcode;
  instruction.type = parts.type;
  if (const auto found = find_operands(open, parts, instruction); !found) return found;
  if (const auto counted = count_flops(open, parts, instruction); !counted) return counted;
  if (const auto noted = note_attributes(parts, instruction); !noted) return noted;
  const int32_t number = open.names.size();
  if (open.names.add(parts.name) != number) {
    return invalid_input(fmt::format("'{}' stands twice", shown(parts.name)));
  }
  note_numbers(open, parts, instruction, number);
  if (parts.root) open.root = number;
  open.flops = bounded(open.flops + instruction.flops);
  open.instructions.push_back(std::move(instruction));
  return {};
}

Result<void> HloModuleBuilder::close(Open open, bool entry) {
  Called now{.number = static_cast<int32_t>(module_.computations.size()), .flops = open.flops};
  const auto bound = open.bounds.find(open.root);
  if (bound != open.bounds.end()) now.bound = bound->second;
  // Without a mark it is the last one.
  if (open.root < 0) open.root = static_cast<int32_t>(open.instructions.size()) - 1;
  module_.computations.push_back(
      {.name = open.name, .instructions = std::move(open.instructions), .root = open.root});
  if (entry) {
    module_.entry = now.number;
    return {};
  }
  if (!called_.emplace(open.name, now).second) {
    return invalid_input(fmt::format("there are two computations called '{}'", shown(open.name)));
  }
  return {};
}

// What decides later how it is fused.
Result<void> HloModuleBuilder::note_attributes(const HloParts& parts, HloInstruction& instruction) {
  if (parts.opcode == "fusion") module_.compiled = true;
  Fingerprint details;
  for (const auto& [key, value] : parts.attributes) {
    if (key == "metadata") continue;
    details.add(key);
    details.add(value);
  }
  if (parts.opcode == "constant") {
    for (const std::string_view literal : parts.operands) details.add(literal);
  }
  instruction.details = details.value();
  instruction.dimensions = hlo_numbers(parts.attribute("dimensions"));
  instruction.side_effect = parts.opcode == "infeed" || parts.opcode == "outfeed" ||
                            parts.opcode == "send" || parts.opcode == "recv" ||
                            parts.attribute("custom_call_has_side_effect") == "true";
  if (parts.opcode == "parameter") {
    const auto place =
        parts.operands.empty() ? std::vector<int64_t>{} : hlo_numbers(parts.operands[0]);
    instruction.index = place.size() == 1 && place[0] >= 0 && place[0] < (1 << 30)
                            ? static_cast<int32_t>(place[0])
                            : -1;
  }
  if (parts.opcode == "constant") {
    instruction.zero =
        parts.operands.size() == 1 && (parts.operands[0] == "0" || parts.operands[0] == "-0");
  }
  if (parts.opcode == "dot") {
    instruction.batch_axes = {hlo_numbers(parts.attribute("lhs_batch_dims")),
                              hlo_numbers(parts.attribute("rhs_batch_dims"))};
    instruction.summed_axes = {hlo_numbers(parts.attribute("lhs_contracting_dims")),
                               hlo_numbers(parts.attribute("rhs_contracting_dims"))};
  }
  if (!parts.type.leaves.empty()) {
    const auto rank = static_cast<int32_t>(parts.type.leaves[0].dims.size());
    if (parts.opcode == "dot" && hlo_numbers(parts.attribute("lhs_batch_dims")).empty()) {
      instruction.feature_axis = rank - 1;
    }
    if (parts.opcode == "convolution") {
      const std::string_view labels = parts.attribute("dim_labels");  // b01f_01io->b01f
      const size_t made = labels.find("->");
      const size_t axis = made == std::string_view::npos ? made : labels.find('f', made);
      if (axis != std::string_view::npos) {
        instruction.feature_axis = static_cast<int32_t>(axis - made - 2);
      }
      if (instruction.feature_axis >= rank) instruction.feature_axis = -1;
    }
  }
  return note_runs(parts, instruction);
}

Result<void> HloModuleBuilder::note_runs(const HloParts& parts, HloInstruction& instruction) {
  std::vector<const char*> keys;
  if (parts.opcode == "call") keys = {"to_apply"};
  if (parts.opcode == "while") keys = {"condition", "body"};
  if (parts.opcode == "conditional") {
    keys = {"branch_computations", "true_computation", "false_computation"};
  }
  for (const char* key : keys) {
    for (const std::string_view name : hlo_names(parts.attribute(key))) {
      const Result<const Called*> called = find_called(name);
      if (!called) return called.error();
      instruction.runs.push_back((*called)->number);
    }
  }
  return {};
}

Result<void> HloModuleBuilder::find_operands(const Open& open, const HloParts& parts,
                                             HloInstruction& instruction) {
  const auto find = [&](std::string_view name, std::vector<int32_t>& into) -> Result<void> {
    const auto number = open.names.find(name);
    if (!number) {
      return invalid_input(
          fmt::format("'{}' is not defined above in this computation", shown(name)));
    }
    into.push_back(*number);
    return {};
  };
  if (parts.opcode != "constant" && parts.opcode != "parameter") {
    for (const std::string_view name : parts.operands) {
      if (auto found = find(name, instruction.operands); !found) return found;
    }
  }
  for (const std::string_view name : hlo_names(parts.attribute("control-predecessors"))) {
    if (auto found = find(name, instruction.runs_after); !found) return found;
  }
  // Each array of a tuple will be an edge: a short text can name a large tuple very often.
  // A get-tuple-element makes none: it stands for the arrays that it picks.
  const bool picks = parts.opcode == "get-tuple-element";
  for (const int32_t operand : instruction.operands) {
    const HloType& type = picks ? instruction.type : open.instructions[operand].type;
    edges_ += static_cast<int64_t>(type.leaves.size());
  }
  if (edges_ > kMostEdges) {
    return invalid_input(
        "the operands are more than 2^26 arrays in all; plan a part of the program, or pass fewer "
        "arrays in tuples");
  }
  return check_tuple(open, parts, instruction);
}

// The leaves of tuples are passed on by number, so that they must be as many as the type says.
Result<void> HloModuleBuilder::check_tuple(const Open& open, const HloParts& parts,
                                           HloInstruction& instruction) {
  size_t leaves = 0;
  if (parts.opcode == "tuple") {
    for (const int32_t operand : instruction.operands) {
      leaves += open.instructions[operand].type.leaves.size();
    }
  } else if (parts.opcode == "get-tuple-element") {
    const Result<int64_t> index = read_whole(parts.attribute("index"), "index", 1 << 30);
    if (!index) return index.error();
    if (instruction.operands.size() != 1) return invalid_input("it takes one tuple");
    const auto& begin = open.instructions[instruction.operands[0]].type.element_begin;
    if (static_cast<size_t>(*index) + 1 >= begin.size()) {
      return invalid_input(fmt::format("the tuple has no element {}", *index));
    }
    instruction.index = static_cast<int32_t>(*index);
    leaves = begin[*index + 1] - begin[*index];
  } else {
    return {};
  }
  if (leaves == instruction.type.leaves.size()) return {};
  return invalid_input(fmt::format("the type has {} arrays and the operands have {}",
                                   instruction.type.leaves.size(), leaves));
}

Result<const HloModuleBuilder::Called*> HloModuleBuilder::find_called(std::string_view name) const {
  const auto found = called_.find(std::string(name));
  if (found != called_.end()) return &found->second;
  return invalid_input(
      fmt::format("there is no computation called '{}' above this one", shown(name)));
}

// The sum over the computations that an attribute names, or the largest of them.
Result<double> HloModuleBuilder::flops_called(std::string_view names, bool largest) const {
  double all = 0;
  for (const std::string_view name : hlo_names(names)) {
    const Result<const Called*> called = find_called(name);
    if (!called) return called.error();
    all = largest ? std::max(all, (*called)->flops) : all + (*called)->flops;
  }
  return bounded(all);
}

Result<void> HloModuleBuilder::count_flops(const Open& open, const HloParts& parts,
                                           HloInstruction& instruction) {
  if (parts.opcode == "while") return count_loop(parts, instruction);
  const bool whole = parts.opcode == "call" || parts.opcode == "fusion" ||
                     parts.opcode == "async-start" || parts.opcode == "conditional";
  double called = 0;
  for (const char* key : {"to_apply", "calls"}) {
    const Result<double> flops = flops_called(parts.attribute(key));
    if (!flops) return flops.error();
    called += *flops;
  }
  double branch = 0;
  for (const char* key : {"branch_computations", "true_computation", "false_computation"}) {
    const Result<double> flops = flops_called(parts.attribute(key), true);
    if (!flops) return flops.error();
    branch = std::max(branch, *flops);
  }
  if (whole) {
    instruction.flops = bounded(called + branch);
    return {};
  }
  std::vector<const HloType*> types;
  for (const int32_t operand : instruction.operands) {
    types.push_back(&open.instructions[operand].type);
  }
  const HloFlops counted = hlo_flops(parts, types, called);
  instruction.flops = bounded(counted.flops);
  if (!counted.known) {
    const auto target = split(parts.attribute("custom_call_target"), "\"");
    module_.opaque.insert(shown(target.empty() ? parts.opcode : target[0]));
  }
  return {};
}

Result<void> HloModuleBuilder::count_loop(const HloParts& parts, HloInstruction& instruction) {
  const Result<double> body = flops_called(parts.attribute("body"));
  if (!body) return body.error();
  const auto conditions = hlo_names(parts.attribute("condition"));
  if (conditions.empty()) return invalid_input("a while needs its condition");
  const Result<const Called*> condition = find_called(conditions[0]);
  if (!condition) return condition.error();
  std::optional<int64_t> rounds = (*condition)->bound;
  // backend_config={"known_trip_count":{"n":"80"}}
  const std::string_view config = parts.attribute("backend_config");
  if (const size_t at = config.find("known_trip_count"); at != std::string_view::npos) {
    for (const std::string_view word : split(config.substr(at), "\\\":{}")) {
      if (const auto number = read_whole(word, "", int64_t{1} << 53)) {
        rounds = *number;
        break;
      }
    }
  }
  if (!rounds) ++module_.unknown_loops;
  instruction.flops =
      bounded((*body + (*condition)->flops) * static_cast<double>(rounds.value_or(1)));
  return {};
}

// Counters of loops start at 0 and ascend by 1, in what JAX and XLA write: the bound is the number
// of rounds.
void HloModuleBuilder::note_numbers(Open& open, const HloParts& parts,
                                    const HloInstruction& instruction, int32_t number) {
  if (parts.opcode == "constant" && parts.operands.size() == 1 && parts.type.leaves.size() == 1 &&
      parts.type.leaves[0].dims.empty()) {
    const auto numbers = hlo_numbers(parts.operands[0]);
    if (numbers.size() == 1) open.constants.emplace(number, numbers[0]);
  }
  if (parts.opcode != "compare" || instruction.operands.size() != 2) return;
  if (parts.attribute("direction") != "LT") return;
  const auto found = open.constants.find(instruction.operands[1]);
  if (found != open.constants.end() && found->second >= 0) {
    open.bounds.emplace(number, found->second);
  }
}

}  // namespace tutti
