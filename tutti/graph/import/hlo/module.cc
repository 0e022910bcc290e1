#include "tutti/graph/import/hlo/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "tutti/base/fingerprint.h"
#include "tutti/graph/import/hlo/flops.h"
#include "tutti/graph/import/hlo/scan.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"
#include "tutti/graph/name_table.h"

namespace tutti {
namespace {

constexpr int64_t kMostEdges = int64_t{1} << 26;

// What the caller of a computation asks of it.
struct Called {
  int32_t number = 0;
  double flops = 0;
  // As the condition of a loop: the number that its counter stays below.
  std::optional<int64_t> bound{};
};

double bounded(double flops) {
  return std::min(flops, kMostFlops);
}

class ModuleReader {
 public:
  explicit ModuleReader(Source& source) : source_(source), lines_(source) {}

  Result<HloModule> read() {
    bool seen = false;
    for (;;) {
      const Result<bool> more = next_statement();
      if (!more) return more.error();
      if (!*more) break;
      const Result<void> taken = inside_ ? take_inside() : take_outside();
      if (!taken) return error_at(source_.name(), line_, taken.error().message);
      seen = seen || entry_done_;
    }
    if (inside_) return error_at(source_.name(), line_, "the last computation is not closed");
    if (!seen) {
      return invalid_input(source_.name() + ": there is no computation marked ENTRY");
    }
    return std::move(module_);
  }

 private:
  // Joins lines until brackets are closed; a computation's own bracket stays open. Blank lines and
  // comments are passed over. False at the end.
  Result<bool> next_statement() {
    statement_.clear();
    HloBrackets brackets;
    for (;;) {
      const Result<bool> more = lines_.next();
      if (!more) return more.error();
      if (!*more) {
        if (statement_.empty()) return false;
        return error_at(source_.name(), line_, "the brackets of this statement are not closed");
      }
      if (statement_.empty()) {
        if (lines_.blank() || lines_.text().starts_with("//")) continue;
        line_ = lines_.number();
      }
      statement_ += lines_.text();
      statement_ += ' ';
      brackets.feed(lines_.text());
      if (brackets.closed() || (!inside_ && opens_computation())) return true;
      constexpr size_t kLongestStatement = size_t{1} << 28;
      if (statement_.size() > kLongestStatement) {
        return error_at(source_.name(), line_, "a statement is longer than 256 MiB");
      }
    }
  }

  std::string_view trimmed() const {
    std::string_view text = statement_;
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    text.remove_suffix(text.size() - std::min(text.find_last_not_of(" \t") + 1, text.size()));
    return text;
  }

  bool opens_computation() const { return trimmed().ends_with('{'); }

  Result<void> take_outside() {
    std::string_view text = trimmed();
    if (text.starts_with("HloModule")) {
      const auto words = split(text, " ,");
      if (words.size() > 1) module_.name = words[1];
      module_.compiled = text.find("is_scheduled=true") != std::string_view::npos;
      return {};
    }
    if (!opens_computation()) return {};  // tables of source files and the like
    is_entry_ = text.starts_with("ENTRY ");
    if (is_entry_ && entry_done_) return invalid_input("there are two computations marked ENTRY");
    if (is_entry_) text.remove_prefix(6);
    const auto names = split(text, " %({");
    if (names.empty()) return invalid_input("a computation needs a name");
    computation_ = names[0];
    inside_ = true;
    names_ = NameTable();
    instructions_.clear();
    root_ = -1;
    constants_.clear();
    now_ = {};
    return {};
  }

  Result<void> take_inside() {
    if (trimmed().starts_with('}')) return close();
    const Result<HloParts> parts = scan_hlo_instruction(trimmed());
    if (!parts) return parts.error();
    HloInstruction instruction;
    instruction.name = parts->name;
    instruction.opcode = parts->opcode;
    instruction.type = parts->type;
    if (const Result<void> found = find_operands(*parts, instruction); !found) return found;
    if (const Result<void> counted = count_flops(*parts, instruction); !counted) return counted;
    if (const Result<void> noted = note_attributes(*parts, instruction); !noted) return noted;
    const int32_t number = names_.size();
    if (names_.add(parts->name) != number) {
      return invalid_input(fmt::format("'{}' stands twice", shown(parts->name)));
    }
    if (parts->opcode == "constant" && parts->operands.size() == 1 &&
        parts->type.leaves.size() == 1 && parts->type.leaves[0].dims.empty()) {
      const auto numbers = hlo_numbers(parts->operands[0]);
      if (numbers.size() == 1) constants_.emplace(number, numbers[0]);
    }
    if (parts->root) {
      note_bound(*parts, instruction);
      root_ = number;
    }
    now_.flops = bounded(now_.flops + instruction.flops);
    instructions_.push_back(std::move(instruction));
    return {};
  }

  Result<void> close() {
    inside_ = false;
    now_.number = static_cast<int32_t>(module_.computations.size());
    // Without a mark it is the last one.
    if (root_ < 0) root_ = static_cast<int32_t>(instructions_.size()) - 1;
    module_.computations.push_back(
        {.name = computation_, .instructions = std::move(instructions_), .root = root_});
    instructions_.clear();
    if (is_entry_) {
      module_.entry = now_.number;
      entry_done_ = true;
      return {};
    }
    if (!called_.emplace(computation_, now_).second) {
      return invalid_input(
          fmt::format("there are two computations called '{}'", shown(computation_)));
    }
    return {};
  }

  // What decides later how it is fused.
  Result<void> note_attributes(const HloParts& parts, HloInstruction& instruction) {
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

  Result<void> note_runs(const HloParts& parts, HloInstruction& instruction) {
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

  Result<void> find_operands(const HloParts& parts, HloInstruction& instruction) {
    const auto find = [&](std::string_view name, std::vector<int32_t>& into) -> Result<void> {
      const auto number = names_.find(name);
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
    for (const int32_t operand : instruction.operands) {
      edges_ += static_cast<int64_t>(instructions_[operand].type.leaves.size());
    }
    if (edges_ > kMostEdges) return invalid_input("the operands are more than 2^26 arrays in all");
    return check_tuple(parts, instruction);
  }

  // The leaves of tuples are passed on by number, so that they must be as many as the type says.
  Result<void> check_tuple(const HloParts& parts, HloInstruction& instruction) const {
    size_t leaves = 0;
    if (parts.opcode == "tuple") {
      for (const int32_t operand : instruction.operands) {
        leaves += instructions_[operand].type.leaves.size();
      }
    } else if (parts.opcode == "get-tuple-element") {
      const Result<int64_t> index = read_whole(parts.attribute("index"), "index", 1 << 30);
      if (!index) return index.error();
      if (instruction.operands.size() != 1) return invalid_input("it takes one tuple");
      const auto& begin = instructions_[instruction.operands[0]].type.element_begin;
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

  Result<const Called*> find_called(std::string_view name) const {
    const auto found = called_.find(std::string(name));
    if (found != called_.end()) return &found->second;
    return invalid_input(
        fmt::format("there is no computation called '{}' above this one", shown(name)));
  }

  // The sum over the computations that an attribute names, or the largest of them.
  Result<double> flops_called(std::string_view names, bool largest = false) const {
    double all = 0;
    for (const std::string_view name : hlo_names(names)) {
      const Result<const Called*> called = find_called(name);
      if (!called) return called.error();
      all = largest ? std::max(all, (*called)->flops) : all + (*called)->flops;
    }
    return bounded(all);
  }

  Result<void> count_flops(const HloParts& parts, HloInstruction& instruction) {
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
      types.push_back(&instructions_[operand].type);
    }
    const HloFlops counted = hlo_flops(parts, types, called);
    instruction.flops = bounded(counted.flops);
    if (!counted.known) {
      const auto target = split(parts.attribute("custom_call_target"), "\"");
      module_.opaque.insert(shown(target.empty() ? parts.opcode : target[0]));
    }
    return {};
  }

  Result<void> count_loop(const HloParts& parts, HloInstruction& instruction) {
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

  // Counters of loops start at 0 and ascend by 1, in what JAX and XLA write: the bound is the
  // number of rounds.
  void note_bound(const HloParts& parts, const HloInstruction& instruction) {
    if (parts.opcode != "compare" || instruction.operands.size() != 2) return;
    if (parts.attribute("direction") != "LT") return;
    const auto found = constants_.find(instruction.operands[1]);
    if (found != constants_.end() && found->second >= 0) now_.bound = found->second;
  }

  Source& source_;
  Lines lines_;
  std::string statement_;
  int line_ = 0;
  HloModule module_;
  int64_t edges_ = 0;
  bool entry_done_ = false;
  std::unordered_map<std::string, Called> called_;
  // The computation being read.
  bool inside_ = false;
  bool is_entry_ = false;
  std::string computation_;
  NameTable names_;
  std::vector<HloInstruction> instructions_;
  int32_t root_ = -1;
  std::unordered_map<int32_t, int64_t> constants_;
  Called now_;
};

}  // namespace

Result<HloModule> read_hlo_module(Source& source) {
  return ModuleReader(source).read();
}

}  // namespace tutti
