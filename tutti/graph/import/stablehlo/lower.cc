#include "tutti/graph/import/stablehlo/lower.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <set>

#include "tutti/base/fingerprint.h"
#include "tutti/graph/import/hlo/opcodes.h"
#include "tutti/graph/import/stablehlo/opcodes.h"
#include "tutti/graph/import/stablehlo/scope.h"
#include "tutti/graph/import/text.h"

namespace tutti {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

HloType tuple_of(const std::vector<HloType>& types) {
  HloType tuple{.tuple = true};
  for (const HloType& type : types) {
    tuple.element_begin.push_back(tuple.leaves.size());
    tuple.leaves.insert(tuple.leaves.end(), type.leaves.begin(), type.leaves.end());
  }
  tuple.element_begin.push_back(tuple.leaves.size());
  return tuple;
}

HloType result_type(const std::vector<HloType>& types) {
  return types.size() == 1 ? types[0] : tuple_of(types);
}

bool is_constant(const MlirOp& op) {
  return op.name.ends_with(".constant");
}

bool is_return(const MlirOp& op) {
  return op.name.ends_with(".return");
}

std::string_view callee(const MlirOp& op) {
  const bool call = op.name == "func.call";
  if (call && !op.symbol.empty()) return op.symbol;
  if (!call && !op.name.ends_with(".composite")) return {};
  const std::string_view named = op.attribute(call ? "callee" : "decomposition");
  return named.starts_with('@') ? unquoted(named.substr(1)) : named;
}

class StableHloLowering {
 public:
  explicit StableHloLowering(const MlirModule& module) : module_(module) {}

  size_t at() const { return at_; }

  Result<HloModule> lower() {
    for (size_t i = 0; i < module_.functions.size(); ++i) {
      at_ = module_.functions[i].at;
      if (!by_name_.emplace(module_.functions[i].name, i).second) {
        return invalid_input(
            fmt::format("there are two functions called '{}'", shown(module_.functions[i].name)));
      }
    }
    const Result<size_t> entry = find_entry();
    if (!entry) return entry.error();
    const Result<std::vector<size_t>> order = order_of_calls(*entry);
    if (!order) return order.error();
    for (const size_t number : *order) {
      if (const auto lowered = lower_function(number, number == *entry); !lowered) {
        return lowered.error();
      }
    }
    builder_.module().name = module_.name;
    return std::move(builder_.module());
  }

 private:
  struct Captured {  // instructions that regions read from around, each once, in order
    std::vector<std::string> names{};
    std::set<std::string> known{};
  };

  Result<size_t> find_entry() {
    std::optional<size_t> only;
    int candidates = 0;
    for (size_t i = 0; i < module_.functions.size(); ++i) {
      const MlirFunction& function = module_.functions[i];
      if (!function.has_body) continue;
      if (function.name == "main") return i;
      if (function.is_private) continue;
      ++candidates;
      only = i;
    }
    if (candidates == 1) return *only;
    return invalid_input(candidates == 0 ? "there is no public function with a body; one called "
                                           "@main was expected"
                                         : "there are several public functions; call the one to "
                                           "plan @main");
  }

  static void collect_callees(const MlirRegion& region, std::vector<std::string_view>& into) {
    for (const MlirOp& op : region.ops) {
      if (const std::string_view name = callee(op); !name.empty()) into.push_back(name);
      for (const MlirRegion& inner : op.regions) collect_callees(inner, into);
    }
  }

  // Each function behind those that it calls.
  Result<std::vector<size_t>> order_of_calls(size_t entry) {
    enum class Mark { unseen, open, done };
    struct Frame {
      size_t function;
      std::vector<std::string_view> callees;
      size_t next = 0;
    };
    std::vector<Mark> marks(module_.functions.size(), Mark::unseen);
    std::vector<size_t> order;
    std::vector<Frame> stack;
    const auto enter = [&](size_t number) {
      marks[number] = Mark::open;
      stack.push_back({.function = number, .callees = {}});
      collect_callees(module_.functions[number].body, stack.back().callees);
    };
    enter(entry);
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next == top.callees.size()) {
        marks[top.function] = Mark::done;
        order.push_back(top.function);
        stack.pop_back();
        continue;
      }
      const auto found = by_name_.find(top.callees[top.next++]);
      if (found == by_name_.end() || !module_.functions[found->second].has_body) continue;
      if (marks[found->second] == Mark::open) {
        at_ = module_.functions[found->second].at;
        return invalid_input(fmt::format("the function '{}' calls itself", shown(found->first)));
      }
      if (marks[found->second] == Mark::unseen) enter(found->second);
    }
    return order;
  }

  static std::string function_name(size_t number) { return fmt::format("function.{}", number); }

  Result<void> lower_function(size_t number, bool entry) {
    const MlirFunction& function = module_.functions[number];
    at_ = function.at;
    MlirScope scope;
    scope.open.name = function_name(number);
    for (const MlirArgument& argument : function.body.arguments) {
      if (const auto added = add_parameter(scope, argument.name, argument.type); !added) {
        return added;
      }
    }
    if (const auto lowered = lower_ops(scope, function.body); !lowered) return lowered;
    if (function.body.ops.empty() || !is_return(function.body.ops.back())) {
      at_ = function.at;
      return invalid_input(
          fmt::format("the function '{}' does not end with a return; the file may be cut; write it "
                      "again",
                      shown(function.name)));
    }
    return builder_.close(std::move(scope.open), entry);
  }

  // The ops of a region, and its root by what it returns.
  Result<void> lower_ops(MlirScope& scope, const MlirRegion& region) {
    for (const MlirOp& op : region.ops) {
      at_ = op.at;
      if (!is_return(op)) {
        if (const auto lowered = lower_op(scope, op); !lowered) return lowered;
        continue;
      }
      std::vector<std::string> names;
      std::vector<HloType> types;
      for (const std::string_view operand : op.operands) {
        const Result<MlirValue> value = find(scope, operand);
        if (!value) return value.error();
        names.push_back(value->instruction);
        types.push_back(*value->types);
      }
      if (names.size() == 1) {
        scope.open.root = *scope.open.names.find(names[0]);
      } else {
        const std::string name = unused(scope, "results");
        const auto added = add(scope, name, tuple_of(types), "tuple", names);
        if (!added) return added;
        scope.open.root = *scope.open.names.find(name);
      }
      break;
    }
    return {};
  }

  static std::string unused(MlirScope& scope, std::string name) {
    if (!scope.open.names.find(name)) return name;
    int32_t& count = scope.repeated[name];
    for (;;) {
      ++count;
      std::string other = count == 1 ? name + '_' : fmt::format("{}_{}", name, count);
      if (!scope.open.names.find(other)) return other;
    }
  }

  // Names in the text are mostly numbers: "%3 = stablehlo.add" is called "add.3".
  static std::string name_for(MlirScope& scope, const MlirOp& op, std::string_view kind) {
    const size_t dot = op.name.find('.');
    if (kind.empty()) kind = dot == std::string_view::npos ? op.name : op.name.substr(dot + 1);
    const std::string_view result = op.results.empty() ? std::string_view() : op.results[0].first;
    if (result.empty()) return unused(scope, std::string(kind));
    const bool number = result[0] >= '0' && result[0] <= '9';
    return unused(scope, number ? fmt::format("{}.{}", kind, result) : std::string(result));
  }

  Result<void> add(MlirScope& scope, std::string_view name, HloType type, std::string_view opcode,
                   const std::vector<std::string>& operands, const Attributes& attributes = {}) {
    HloParts parts;
    parts.name = name;
    parts.type = std::move(type);
    parts.opcode = opcode;
    for (const std::string& operand : operands) parts.operands.push_back(operand);
    for (const auto& [key, value] : attributes) parts.attributes.emplace_back(key, value);
    return builder_.add(scope.open, parts);
  }

  Result<void> add_parameter(MlirScope& scope, std::string_view label, const HloType& type) {
    const std::string name =
        unused(scope, label.empty() ? fmt::format("arg{}", scope.parameters) : std::string(label));
    const std::string place = std::to_string(scope.parameters++);
    if (const auto added = add(scope, name, type, "parameter", {place}); !added) return added;
    if (label.empty()) return {};
    if (!scope.values.emplace(label, MlirValue{.instruction = name, .types = &type}).second) {
      return stands_twice(label);
    }
    return {};
  }

  // The instruction that a name stands for within the scope's own computation.
  Result<MlirValue> find(MlirScope& scope, std::string_view reference) {
    const auto [base, index] = split_reference(reference);
    const auto own = scope.values.find(base);
    if (own != scope.values.end()) return pick(scope, base, own->second, index, reference);
    for (const MlirScope* around = scope.parent; around != nullptr; around = around->parent) {
      const auto outer = around->values.find(base);
      if (outer == around->values.end()) continue;
      const MlirValue value = outer->second;
      if (value.maker != nullptr && is_constant(*value.maker)) {
        if (const auto added = add_constant(scope, *value.maker); !added) return added.error();
        return scope.values.find(base)->second;
      }
      return capture(scope, value, index, reference);
    }
    return undefined(reference);
  }

  static Error stands_twice(std::string_view name) {
    return invalid_input(fmt::format("'%{}' stands twice", shown(name)));
  }

  static Error undefined(std::string_view reference) {
    return invalid_input(
        fmt::format("'%{}' is not defined above in this function", shown(reference)));
  }

  Result<MlirValue> pick(MlirScope& scope, std::string_view base, const MlirValue& value,
                         int32_t index, std::string_view reference) {
    if (index < 0 || index >= value.count) return undefined(reference);
    if (!value.element) return value;
    const std::string key = fmt::format("{}#{}", base, index);
    const auto known = scope.elements.find(key);
    if (known != scope.elements.end()) return known->second;
    const MlirValue element{
        .instruction = unused(scope, fmt::format("{}.{}", value.instruction, value.first + index)),
        .types = value.types + index};
    const auto added = add(scope, element.instruction, *element.types, "get-tuple-element",
                           {value.instruction}, {{"index", std::to_string(value.first + index)}});
    if (!added) return added.error();
    scope.elements.emplace(key, element);
    return element;
  }

  // A value from around the region becomes a parameter of it.
  Result<MlirValue> capture(MlirScope& scope, const MlirValue& value, int32_t index,
                            std::string_view reference) {
    if (index < 0 || index >= value.count) return undefined(reference);
    const auto known = scope.elements.find(std::string(reference));
    if (known != scope.elements.end()) return known->second;
    const MlirValue inner{.instruction = unused(scope, fmt::format("outer.{}", value.instruction)),
                          .types = value.types + index};
    const std::string place = std::to_string(scope.parameters++);
    if (const auto added = add(scope, inner.instruction, *inner.types, "parameter", {place});
        !added) {
      return added.error();
    }
    scope.elements.emplace(std::string(reference), inner);
    scope.captures.push_back(reference);
    return inner;
  }

  Result<void> add_constant(MlirScope& scope, const MlirOp& op) {
    const HloType type = op.types.empty() ? HloType{} : op.types[0];
    if (type.leaves.size() != 1 || op.results.empty()) {
      return invalid_input("a constant makes one tensor");
    }
    const std::string_view value = op.attribute("value");
    MlirLiteral literal = read_mlir_literal(!op.literal.empty() ? op.literal
                                            : !value.empty()    ? value
                                            : op.words.empty()  ? std::string_view()
                                                                : op.words[0]);
    const bool repeated = literal.splat && !type.leaves[0].dims.empty();
    HloType scalar = type;
    if (repeated) {
      HloType::Array& leaf = scalar.leaves[0];
      const double elements = leaf.elements();
      leaf.bytes =
          elements > 0 ? static_cast<int64_t>(static_cast<double>(leaf.bytes) / elements) : 0;
      leaf.dims.clear();
    }
    const std::string name = name_for(scope, op, "");
    const std::string one = repeated ? unused(scope, name + ".element") : name;
    HloParts parts;
    parts.name = one;
    parts.type = scalar;
    parts.opcode = "constant";
    parts.operands.push_back(literal.splat ? std::string_view(literal.text)
                                           : told_apart(op, literal.whole));
    if (const auto added = builder_.add(scope.open, parts); !added) return added;
    if (repeated) {
      const auto added = add(scope, name, type, "broadcast", {one}, {{"dimensions", "{}"}});
      if (!added) return added;
    }
    scope.values[op.results[0].first] = {
        .instruction = name, .maker = &op, .types = op.types.data()};
    return {};
  }

  // A long literal is read once, though each region that uses it has a constant of its own.
  std::string_view told_apart(const MlirOp& op, std::string_view literal) {
    constexpr size_t kShort = 256;
    if (literal.size() <= kShort) return literal;
    std::string& text = long_literals_[&op];
    if (text.empty()) {
      Fingerprint print;
      print.add(literal);
      text = "literal.";
      for (uint64_t rest = print.value(), i = 0; i < 16; ++i, rest >>= 4) {
        text += static_cast<char>('a' + rest % 16);
      }
    }
    return text;
  }

  Result<void> lower_op(MlirScope& scope, const MlirOp& op) {
    for (const auto& [name, count] : op.results) {
      if (scope.values.count(name) != 0) {
        return stands_twice(name);
      }
    }
    if (is_constant(op)) return add_constant(scope, op);
    // Where values are kept, and groups of those kept alike, mean nothing on one device.
    if (op.name == "sdy.sharding_group" || op.name == "sdy.mesh") return {};
    const std::string_view called = callee(op);
    std::string opcode = stablehlo_opcode(op.name);
    if (!called.empty()) opcode = "call";
    if (op.name == "sdy.manual_computation" && !op.regions.empty()) opcode = "call";
    if (op.name == "sdy.sharding_constraint" || op.name == "sdy.reshard" ||
        op.symbol == "Sharding") {
      opcode = "bitcast";
    }
    Attributes attributes;
    if (opcode.empty()) {  // of another dialect
      opcode = "custom-call";
      attributes.emplace_back("custom_call_target", fmt::format("\"{}\"", op.name));
    }
    std::vector<std::string> operands;
    std::vector<const HloType*> types;
    if (const auto found = find_operands(scope, op, operands, types); !found) return found;
    if (const auto ran = lower_called(scope, op, opcode, operands, attributes); !ran) return ran;
    at_ = op.at;
    for (auto& attribute : stablehlo_attributes(op, opcode, types)) {
      attributes.push_back(std::move(attribute));
    }
    attributes.emplace_back("details", digest(op));
    if (opcode == "get-tuple-element") {
      const std::string_view index = op.attribute("index");
      const auto numbers = mlir_numbers(index.empty() ? op.attribute("[]") : index);
      attributes.emplace_back("index", numbers.empty() ? "" : std::to_string(numbers[0]));
    }
    return add_op(scope, op, opcode, std::move(operands), types, std::move(attributes));
  }

  Result<void> find_operands(MlirScope& scope, const MlirOp& op, std::vector<std::string>& names,
                             std::vector<const HloType*>& types) {
    for (const auto* list : {&op.operands, &op.initial}) {
      for (const std::string_view operand : *list) {
        const Result<MlirValue> value = find(scope, operand);
        if (!value) return value.error();
        names.push_back(value->instruction);
        types.push_back(value->types);
      }
    }
    return {};
  }

  // All that is not an operand or region: equal digests and operands make equal results.
  static std::string digest(const MlirOp& op) {
    Fingerprint print;
    for (const auto& [key, value] : op.attributes) {
      if (key.find("sharding") != std::string_view::npos) continue;
      print.add(key);
      print.add(value);
    }
    for (const std::string_view word : op.words) print.add(word);
    print.add(op.symbol);
    print.add(op.literal);
    return fmt::format("{:016x}", print.value());
  }

  // Computations that the op runs or applies, and what these read from around.
  Result<void> lower_called(MlirScope& scope, const MlirOp& op, std::string& opcode,
                            std::vector<std::string>& operands, Attributes& attributes) {
    if (const std::string_view name = callee(op); !name.empty()) {
      const auto found = by_name_.find(name);
      if (found == by_name_.end()) {
        return invalid_input(fmt::format("there is no function called '{}'", shown(name)));
      }
      const MlirFunction& function = module_.functions[found->second];
      if (function.has_body) {
        const size_t takes = function.body.arguments.size();
        const size_t gives = function.body.ops.back().operands.size();
        if (operands.size() != takes || op.types.size() != gives) {
          return invalid_input(fmt::format(
              "the function '{}' takes {} and returns {} values, and this call has {} and {}",
              shown(name), takes, gives, operands.size(), op.types.size()));
        }
        attributes.emplace_back("to_apply", function_name(found->second));
      } else {
        opcode = "custom-call";
        attributes.emplace_back("custom_call_target", fmt::format("\"{}\"", name));
      }
    }
    if (const auto at = std::find(op.words.begin(), op.words.end(), "applies");
        at != op.words.end() && at + 1 != op.words.end()) {
      const Result<std::string> applied = applied_computation(stablehlo_opcode(*(at + 1)));
      if (!applied) return applied.error();
      attributes.emplace_back("to_apply", *applied);
    }
    std::vector<std::string> names;
    Captured captured;
    for (size_t i = 0; i < op.regions.size(); ++i) {
      const auto name = lower_region(scope, op, i, opcode == "while", captured);
      if (!name) return name.error();
      names.push_back(*name);
    }
    const bool runs = opcode == "while" || opcode == "conditional" || opcode == "call";
    if (runs) {
      operands.insert(operands.end(), captured.names.begin(), captured.names.end());
    } else if (!captured.names.empty()) {
      attributes.emplace_back("control-predecessors",
                              fmt::format("{{{}}}", fmt::join(captured.names, ", ")));
    }
    if (opcode == "while") {
      if (names.size() != 2) return invalid_input("a while has a condition and a body");
      attributes.emplace_back("condition", names[0]);
      attributes.emplace_back("body", names[1]);
    } else if (opcode == "conditional") {
      attributes.emplace_back("branch_computations", fmt::format("{{{}}}", fmt::join(names, ", ")));
    } else if (!names.empty() && opcode != "custom-call") {
      attributes.emplace_back("to_apply", names[0]);
    }
    return {};
  }

  // "applies stablehlo.add": a computation of one instruction, made once for each opcode.
  Result<std::string> applied_computation(const std::string& opcode) {
    if (opcode.empty()) return invalid_input("'applies' needs an op");
    const std::string name = "applied." + opcode;
    if (!applied_.insert(name).second) return name;
    MlirScope scope;
    scope.open.name = name;
    const HloType number{.leaves = {{.dtype = DType::f32, .bytes = 4}}};
    for (const char* label : {"a", "b"}) {
      if (const auto added = add_parameter(scope, label, number); !added) return added.error();
    }
    if (const auto added = add(scope, "result", number, opcode, {"a", "b"}); !added) {
      return added.error();
    }
    scope.open.root = 2;
    if (const auto closed = builder_.close(std::move(scope.open), false); !closed) {
      return closed.error();
    }
    return name;
  }

  Result<std::string> lower_region(MlirScope& around, const MlirOp& op, size_t number, bool loop,
                                   Captured& captured) {
    const MlirRegion& region = op.regions[number];
    MlirScope scope{.parent = &around};
    scope.open.name = fmt::format("region.{}", regions_++);
    std::vector<std::pair<std::string_view, const HloType*>> arguments;
    for (const MlirArgument& argument : region.arguments) {
      arguments.emplace_back(argument.name, &argument.type);
    }
    for (size_t i = 0; arguments.empty() && i < op.bindings.size(); ++i) {
      if (op.bindings.size() != op.types.size()) {
        return invalid_input("a while has as many types as values");
      }
    }
    if (arguments.empty()) {
      for (size_t i = 0; i < op.bindings.size(); ++i) {
        arguments.emplace_back(op.bindings[i], &op.types[i]);
      }
    }
    for (size_t i = 0; i < arguments.size(); ++i) {
      const MlirOp* constant = loop && number == 0 ? unchanged_constant(around, op, i) : nullptr;
      if (constant != nullptr) {  // the bound of a loop, handed from round to round
        if (const auto added = add_constant(scope, *constant); !added) return added.error();
        MlirValue value = scope.values[constant->results[0].first];
        scope.values.erase(constant->results[0].first);
        value.maker = nullptr;
        scope.values[arguments[i].first] = value;
        continue;
      }
      const auto added = add_parameter(scope, arguments[i].first, *arguments[i].second);
      if (!added) return added.error();
    }
    if (const auto lowered = lower_ops(scope, region); !lowered) return lowered.error();
    for (const std::string_view reference : scope.captures) {
      const Result<MlirValue> outer = find(around, reference);
      if (!outer) return outer.error();
      if (captured.known.insert(outer->instruction).second) {
        captured.names.push_back(outer->instruction);
      }
    }
    std::string name = scope.open.name;
    if (const auto closed = builder_.close(std::move(scope.open), false); !closed) {
      return closed.error();
    }
    return name;
  }

  // The constant of one number that a loop begins with as its value `i` and never changes.
  static const MlirOp* unchanged_constant(const MlirScope& around, const MlirOp& loop, size_t i) {
    if (i >= loop.operands.size() || loop.regions.size() != 2) return nullptr;
    const MlirRegion& body = loop.regions[1];
    if (body.ops.empty() || !is_return(body.ops.back())) return nullptr;
    const auto& returned = body.ops.back().operands;
    const std::string_view inner = i < body.arguments.size() ? body.arguments[i].name
                                   : i < loop.bindings.size() && body.arguments.empty()
                                       ? loop.bindings[i]
                                       : std::string_view();
    if (inner.empty() || i >= returned.size() || returned[i] != inner) return nullptr;
    for (const MlirScope* scope = &around; scope != nullptr; scope = scope->parent) {
      const auto found = scope->values.find(loop.operands[i]);
      if (found == scope->values.end()) continue;
      const MlirOp* maker = found->second.maker;
      const bool number = maker != nullptr && is_constant(*maker) && maker->types.size() == 1 &&
                          maker->types[0].leaves.size() == 1 &&
                          maker->types[0].leaves[0].dims.empty();
      return number ? maker : nullptr;
    }
    return nullptr;
  }

  Result<void> add_op(MlirScope& scope, const MlirOp& op, std::string_view opcode,
                      std::vector<std::string> operands, const std::vector<const HloType*>& types,
                      Attributes attributes) {
    const HloType type = result_type(op.types);
    const std::string name =
        name_for(scope, op, op.name == "func.call" ? callee(op) : std::string_view());
    if ((opcode == "broadcast" || opcode == "reshape" || opcode == "iota") && operands.size() > 1) {
      operands.resize(1);  // the shape, of the dynamic forms
    }
    if (opcode == "iota") operands.clear();
    if (opcode == "broadcast" && operands.size() == 1 && op.types.size() == 1) {
      const auto narrowed = narrow_broadcast(scope, name, *types[0], type, operands, attributes);
      if (!narrowed) return narrowed;
    }
    if (opcode == "opt-barrier" && operands.size() > 1) {
      const std::string together = unused(scope, name + ".operands");
      const auto added = add(scope, together, type, "tuple", operands);
      if (!added) return added;
      operands = {together};
    }
    if (const auto added = add(scope, name, type, opcode, operands, attributes); !added) {
      return added;
    }
    int32_t first = 0;
    for (const auto& [result, count] : op.results) {
      scope.values[result] = {.instruction = name,
                              .maker = &op,
                              .types = op.types.data() + first,
                              .first = first,
                              .count = count,
                              .element = op.types.size() != 1};
      first += count;
    }
    return {};
  }

  // In HLO a broadcast repeats whole dimensions: those of size 1 that grow are dropped first.
  Result<void> narrow_broadcast(MlirScope& scope, const std::string& name, const HloType& from,
                                const HloType& to, std::vector<std::string>& operands,
                                Attributes& attributes) {
    if (from.leaves.size() != 1 || to.leaves.size() != 1) return {};
    const auto& small = from.leaves[0].dims;
    const auto& large = to.leaves[0].dims;
    const auto given = std::find_if(attributes.begin(), attributes.end(),
                                    [](const auto& pair) { return pair.first == "dimensions"; });
    std::vector<int64_t> dims =
        given == attributes.end() ? std::vector<int64_t>{} : mlir_numbers(given->second);
    if (dims.size() != small.size()) {  // the old form: new dimensions stand in front
      if (small.size() > large.size()) return {};
      dims.clear();
      for (size_t i = 0; i < small.size(); ++i) {
        dims.push_back(static_cast<int64_t>(large.size() - small.size() + i));
      }
    }
    HloType narrow = from;
    narrow.leaves[0].dims.clear();
    std::vector<int64_t> kept;
    for (size_t i = 0; i < small.size(); ++i) {
      if (dims[i] < 0 || dims[i] >= static_cast<int64_t>(large.size())) {
        return invalid_input(fmt::format("the result has no dimension {}", dims[i]));
      }
      if (small[i] == 1 && large[static_cast<size_t>(dims[i])] != 1) continue;
      kept.push_back(dims[i]);
      narrow.leaves[0].dims.push_back(small[i]);
    }
    if (kept.size() != small.size()) {
      const std::string reshaped = unused(scope, name + ".narrow");
      if (const auto added = add(scope, reshaped, narrow, "reshape", operands); !added) {
        return added;
      }
      operands = {reshaped};
    }
    if (given != attributes.end()) attributes.erase(given);
    attributes.emplace(attributes.begin(), "dimensions", hlo_list(kept));
    return {};
  }

  const MlirModule& module_;
  HloModuleBuilder builder_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::set<std::string> applied_;
  std::unordered_map<const MlirOp*, std::string> long_literals_;
  size_t at_ = 0;
  int64_t regions_ = 0;
};

}  // namespace

std::pair<std::string_view, int32_t> split_reference(std::string_view reference) {
  const size_t mark = reference.find('#');
  if (mark == std::string_view::npos) return {reference, 0};
  const std::string_view number = reference.substr(mark + 1);
  int32_t index = -1;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), index);
  if (code != std::errc() || end != number.data() + number.size()) index = -1;
  return {reference.substr(0, mark), index};
}

Result<HloModule> lower_stablehlo(const MlirModule& module, MlirFault& fault) {
  StableHloLowering lowering(module);
  Result<HloModule> lowered = lowering.lower();
  if (!lowered) fault = {.at = lowering.at(), .message = lowered.error().message};
  return lowered;
}

}  // namespace tutti
