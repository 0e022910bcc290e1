#include "tutti/graph/import/hlo/hlo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/graph/import/hlo/module.h"
#include "tutti/graph/import/text.h"

namespace tutti {
namespace {

bool is_input(const HloInstruction& instruction) {
  return instruction.opcode == "parameter" || instruction.opcode == "constant";
}

bool is_view(std::string_view opcode) {
  return opcode == "reshape" || opcode == "bitcast" || opcode == "bitcast-convert" ||
         opcode == "after-all" || opcode == "opt-barrier" || opcode == "optimization-barrier";
}

class EntryBuilder {
 public:
  explicit EntryBuilder(const HloModule& module) : module_(module), values_(module.entry.size()) {}

  Result<Graph> build(const std::string& name) {
    GraphBuilder builder(name);
    // All inputs first; instructions are in an order in which they can run.
    for (size_t i = 0; i < module_.entry.size() && !builder.too_large(); ++i) {
      if (is_input(module_.entry[i])) add_inputs(builder, i);
    }
    for (size_t i = 0; i < module_.entry.size() && !builder.too_large(); ++i) {
      const HloInstruction& instruction = module_.entry[i];
      if (instruction.opcode == "tuple") {
        values_[i] = operand_values(instruction);
      } else if (instruction.opcode == "get-tuple-element") {
        const int32_t tuple = instruction.operands[0];
        const auto& begin = module_.entry[tuple].type.element_begin;
        const auto all = values_[tuple].begin();
        values_[i].assign(all + static_cast<int64_t>(begin[instruction.tuple_index]),
                          all + static_cast<int64_t>(begin[instruction.tuple_index + 1]));
      } else if (!is_input(instruction)) {
        add_op(builder, i);
      }
    }
    return std::move(builder).build();
  }

 private:
  static ValueSpec spec_of(const HloType::Array& array) {
    return {.bytes = array.bytes, .shape = array.dims, .dtype = array.dtype};
  }

  void add_inputs(GraphBuilder& builder, size_t number) {
    const HloInstruction& instruction = module_.entry[number];
    for (size_t leaf = 0; leaf < instruction.type.leaves.size(); ++leaf) {
      ValueSpec value = spec_of(instruction.type.leaves[leaf]);
      value.name =
          instruction.type.tuple ? fmt::format("{}:{}", instruction.name, leaf) : instruction.name;
      values_[number].push_back(builder.add_input({.value = std::move(value), .weight = true}));
    }
  }

  std::vector<ValueId> operand_values(const HloInstruction& instruction) const {
    std::vector<ValueId> all;
    for (const int32_t operand : instruction.operands) {
      all.insert(all.end(), values_[operand].begin(), values_[operand].end());
    }
    return all;
  }

  void add_op(GraphBuilder& builder, size_t number) {
    const HloInstruction& instruction = module_.entry[number];
    std::vector<ValueId> operands = operand_values(instruction);
    for (const int32_t earlier : instruction.runs_after) {
      if (!values_[earlier].empty()) operands.push_back(values_[earlier].front());
    }
    std::vector<ValueSpec> outputs;
    for (const HloType::Array& leaf : instruction.type.leaves) outputs.push_back(spec_of(leaf));
    std::vector<GivenTime> run_times;
    if (is_view(instruction.opcode)) run_times.push_back({"", Duration{0}});
    const OpId op = builder.add_op({.name = instruction.name,
                                    .kind = instruction.opcode,
                                    .operands = operands,
                                    .outputs = outputs,
                                    .flops = instruction.flops,
                                    .run_times = run_times});
    if (builder.too_large()) return;
    for (const ValueId value : builder.outputs(op)) values_[number].push_back(value);
  }

  const HloModule& module_;
  std::vector<std::vector<ValueId>> values_;  // by instruction: those of its leaves
};

}  // namespace

bool looks_like_hlo(std::string_view start) {
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  return start.starts_with("HloModule");
}

Result<Imported> read_hlo(Source& source, const ImportOptions& /*options*/) {
  const Result<HloModule> module = read_hlo_module(source);
  if (!module) return module.error();
  Result<Graph> graph =
      EntryBuilder(*module).build(module->name.empty() ? graph_name_of(source) : module->name);
  if (!graph) return invalid_input(source.name() + ": " + graph.error().message);
  Imported imported{.graph = std::move(*graph)};
  if (!module->opaque.empty()) {
    imported.warnings.push_back(
        fmt::format("the flops of {} are not known; such ops count by their bytes",
                    fmt::join(module->opaque, ", ")));
  }
  if (module->unknown_loops > 0) {
    imported.warnings.push_back(
        fmt::format("{} while loops do not say how often they run; each counts as one round",
                    module->unknown_loops));
  }
  return imported;
}

}  // namespace tutti
