#include "tutti/graph/import/hlo/hlo.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tutti/graph/builder.h"
#include "tutti/graph/import/hlo/flat.h"
#include "tutti/graph/import/hlo/fuse.h"
#include "tutti/graph/import/hlo/launches.h"
#include "tutti/graph/import/hlo/module.h"
#include "tutti/graph/import/hlo/opcodes.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"

namespace tutti {
namespace {

// Groups of instructions as ops, the arrays between them as values.
class HloGraphBuilder {
 public:
  HloGraphBuilder(const HloFlat& flat, const std::vector<HloGroup>& groups)
      : flat_(flat), groups_(groups), values_(flat.values.size()) {}

  // All inputs first.
  Result<Graph> build(const std::string& name, bool all_constants) {
    GraphBuilder builder(name);
    std::vector<bool> read(flat_.values.size(), all_constants);
    for (const HloGroup& group : groups_) {
      for (const int32_t value : group.reads) read[value] = true;
    }
    for (size_t i = 0; i < flat_.values.size() && !builder.too_large(); ++i) {
      const HloNode& node = flat_.nodes[flat_.values[i].node];
      if (node.parameter || (node.constant && read[i])) add_input(builder, i, node);
    }
    for (const HloGroup& group : groups_) {
      if (builder.too_large()) break;
      add_op(builder, group);
    }
    return std::move(builder).build();
  }

 private:
  ValueSpec spec_of(int32_t value) const {
    const HloType::Array& array = flat_.values[value].type;
    return {.bytes = array.bytes, .shape = array.dims, .dtype = array.dtype};
  }

  void add_input(GraphBuilder& builder, size_t number, const HloNode& node) {
    const auto value = static_cast<int32_t>(number);
    ValueSpec spec = spec_of(value);
    spec.name = node.instruction->type.tuple
                    ? fmt::format("{}:{}", node.name, value - node.first_value)
                    : node.name;
    values_[number] = builder.add_input({.value = std::move(spec), .weight = true});
  }

  void add_op(GraphBuilder& builder, const HloGroup& group) {
    std::vector<ValueId> operands;
    for (const int32_t value : group.reads) operands.push_back(values_[value]);
    for (const int32_t value : group.follows) operands.push_back(values_[value]);
    std::vector<ValueSpec> outputs;
    for (const int32_t value : group.makes) outputs.push_back(spec_of(value));
    double flops = 0;
    for (const int32_t node : group.nodes) flops += flat_.nodes[node].flops;
    std::vector<GivenTime> run_times;
    if (hlo_is_view(group.kind)) run_times.push_back({"", Duration{0}});
    const OpId op = builder.add_op({.name = flat_.nodes[group.root].name,
                                    .kind = group.kind,
                                    .operands = operands,
                                    .outputs = outputs,
                                    .flops = std::min(flops, kMostFlops),
                                    .run_times = run_times});
    if (builder.too_large()) return;
    size_t next = 0;
    for (const ValueId value : builder.outputs(op)) values_[group.makes[next++]] = value;
  }

  const HloFlat& flat_;
  const std::vector<HloGroup>& groups_;
  std::vector<ValueId> values_;  // by value of `flat`
};

}  // namespace

bool looks_like_hlo(std::string_view start) {
  start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
  return start.starts_with("HloModule");
}

Result<Imported> read_hlo(Source& source, const ImportOptions& options) {
  const Result<HloModule> module = read_hlo_module(source);
  if (!module) return module.error();
  return import_hlo_module(*module, source, options);
}

Result<Imported> import_hlo_module(const HloModule& module, const Source& source,
                                   const ImportOptions& options) {
  const HloExpansion expansion(module);
  const bool fused = options.fuse && !module.compiled;
  const HloFlat flat = fused ? simplify_hlo(module, module.entry, expansion.fits(module.entry))
                             : flatten_hlo(module, module.entry);
  const std::vector<HloGroup> groups = fused ? fuse_hlo(flat) : separate_hlo(flat);
  Result<Graph> graph =
      HloGraphBuilder(flat, groups)
          .build(module.name.empty() ? graph_name_of(source) : module.name, !fused);
  if (!graph) return invalid_input(source.name() + ": " + graph.error().message);
  Imported imported{.graph = std::move(*graph)};
  imported.launches = count_hlo_launches(module, expansion, fused, flat, groups);
  if (!module.opaque.empty()) {
    imported.warnings.push_back(
        fmt::format("the flops of {} are not known; such ops count by their bytes",
                    fmt::join(module.opaque, ", ")));
  }
  if (module.unknown_loops > 0) {
    imported.warnings.push_back(
        fmt::format("{} while loops do not say how often they run; each counts as one round",
                    module.unknown_loops));
  }
  return imported;
}

}  // namespace tutti
