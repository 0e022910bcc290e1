// Graphs of the C interface: built, read, or drawn from a family.

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <set>

#include "tutti/door/c/handles.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/import/import.h"
#include "tutti/graph/limits.h"
#include "tutti/graph/make/cholesky.h"
#include "tutti/graph/make/family/family.h"
#include "tutti/graph/make/job.h"
#include "tutti/graph/make/layered.h"

struct tutti_graph_builder {
  std::optional<tutti::GraphBuilder> builder;
  std::set<std::string, std::less<>> names{};
};

namespace tutti::door {
namespace {

Result<ValueSpec> value_of(const tutti_value& given) {
  const Result<tutti_value> read = options_of(&given);
  if (!read) return read.error();
  const tutti_value& value = *read;
  ValueSpec spec{.name = text_or(value.name, ""), .bytes = value.bytes};
  if (value.dtype != nullptr && *value.dtype != 0) {
    const std::optional<DType> dtype = parse_dtype(value.dtype);
    if (!dtype) {
      return invalid_input(
          fmt::format("'{}' is no dtype; take f64, f32, f16, bf16, i64, i32, i16, i8, u8 or bool",
                      value.dtype));
    }
    spec.dtype = *dtype;
  }
  if (value.rank < 0 || (value.rank > 0 && value.shape == nullptr)) {
    return invalid_input(
        fmt::format("value '{}': a rank of {} without a shape", spec.name, value.rank));
  }
  double elements = 1;
  for (int32_t i = 0; i < value.rank; ++i) {
    if (value.shape[i] < 0) {
      return invalid_input(fmt::format("value '{}': the shape has a negative size", spec.name));
    }
    spec.shape.push_back(value.shape[i]);
    elements *= static_cast<double>(value.shape[i]);
  }
  // Without sizes but with a dtype it is a scalar.
  if (spec.bytes == 0 && (value.rank > 0 || element_bytes(spec.dtype) > 0)) {
    const double bytes = elements * element_bytes(spec.dtype);
    if (bytes == 0 && elements > 0) {
      return invalid_input(
          fmt::format("value '{}' states neither bytes nor a dtype; give one of them", spec.name));
    }
    if (bytes > 9e18) return invalid_input(fmt::format("value '{}' is too large", spec.name));
    spec.bytes = static_cast<int64_t>(bytes);
  }
  if (spec.bytes < 0 || spec.bytes > kMostBytes) {
    return invalid_input(fmt::format("value '{}': {} bytes are no size that a value can have",
                                     spec.name, spec.bytes));
  }
  return spec;
}

Result<void> check_usable(const tutti_graph_builder* builder) {
  if (builder == nullptr) return invalid_input("there is no graph builder");
  if (!builder->builder) return invalid_input("the graph is built already; begin a new builder");
  return {};
}

Result<int32_t> add_op(tutti_graph_builder& builder, const tutti_op& given) {
  const Result<tutti_op> read = options_of(&given);
  if (!read) return read.error();
  const tutti_op& op = *read;
  if (op.name == nullptr || *op.name == 0) return invalid_input("an op without a name");
  const std::string name = op.name;
  const auto wrong = [&](const std::string& what) {
    return invalid_input(fmt::format("op '{}': {}", name, what));
  };
  if (builder.names.contains(name)) return wrong("an op of that name is there already");
  if (op.kind == nullptr || *op.kind == 0) return wrong("it has no kind");
  if (op.operand_count < 0 || op.output_count < 0 || op.time_count < 0 ||
      (op.operand_count > 0 && op.operands == nullptr) ||
      (op.output_count > 0 && op.outputs == nullptr) ||
      (op.time_count > 0 && (op.time_kinds == nullptr || op.times_ns == nullptr))) {
    return wrong("a count without its array");
  }
  if (!std::isfinite(op.flops) || op.flops < 0) return wrong("flops must be 0 or more");
  if (op.transient_bytes < 0 || op.transient_bytes > kMostBytes) {
    return wrong("transient_bytes must be 0 or more");
  }
  std::vector<ValueId> operands;
  for (int32_t i = 0; i < op.operand_count; ++i) {
    if (op.operands[i] < 0 || op.operands[i] >= builder.builder->value_count()) {
      return wrong(fmt::format("operand {} is value {}, which is not there", i, op.operands[i]));
    }
    operands.push_back(ValueId{op.operands[i]});
  }
  std::vector<ValueSpec> outputs;
  // The structs of an older header are shorter, and so are the steps from one to the next.
  const auto* at = reinterpret_cast<const char*>(op.outputs);
  for (int32_t i = 0; i < op.output_count; ++i) {
    const auto* value = reinterpret_cast<const tutti_value*>(at);
    Result<ValueSpec> output = value_of(*value);
    if (!output) return wrong(output.error().message);
    outputs.push_back(std::move(*output));
    at += value->size;
  }
  if (outputs.empty()) return wrong("it makes no value; give it an output, of 0 bytes if need be");
  std::vector<GivenTime> times;
  for (int32_t i = 0; i < op.time_count; ++i) {
    if (op.times_ns[i] < 0 || op.times_ns[i] > kLongestTimeNs) return wrong("a time out of range");
    const std::string kind = text_or(op.time_kinds[i], "");
    times.push_back({.device_kind = kind == "*" ? "" : kind, .time = Duration(op.times_ns[i])});
  }
  const OpId id = builder.builder->add_op({.name = name,
                                           .kind = op.kind,
                                           .operands = operands,
                                           .outputs = outputs,
                                           .flops = op.flops,
                                           .transient_bytes = op.transient_bytes,
                                           .run_times = times});
  if (builder.builder->too_large()) return wrong("the graph is too large");
  builder.names.insert(name);
  return id.index;
}

Result<Graph> make_family(const tutti_family& family) {
  const std::string name = text_or(family.family, "layered");
  const int32_t ops = family.ops == 0 ? 50 : family.ops;
  if (ops < 1) return invalid_input(fmt::format("{} ops are no graph; ask for at least 1", ops));
  Weights weights{
      .bandwidth = family.bandwidth_bytes_per_s == 0 ? 1e10 : family.bandwidth_bytes_per_s,
      .rate = family.rate_flops_per_s == 0 ? 1e12 : family.rate_flops_per_s,
      .seed = family.seed};
  weights.ccr = family.ccr;
  const auto root = std::max<int64_t>(1, std::llround(std::sqrt(static_cast<double>(ops))));
  if (name == "layered") return make_layered({.ops = ops, .seed = family.seed});
  if (name == "random") {
    if (family.ccr == 0) weights.ccr = 1;
    return make_random({.ops = ops, .weights = weights});
  }
  if (name == "stencil") {
    return make_stencil(
        {.width = root, .steps = std::max<int64_t>(1, ops / root), .weights = weights});
  }
  if (name == "fork-join") {
    const int64_t stages = std::max<int64_t>(1, root / 2);
    return make_fork_join(
        {.stages = stages, .width = std::max<int64_t>(1, ops / stages - 2), .weights = weights});
  }
  if (name == "fft") {
    int64_t points = 2;
    int64_t levels = 2;
    while (points * 2 * (levels + 1) <= ops) {
      points *= 2;
      ++levels;
    }
    return make_fft({.points = points, .weights = weights});
  }
  if (name == "cholesky") {
    int64_t tiles = 1;
    while ((tiles + 1) * (tiles + 2) * (tiles + 3) / 6 <= ops) ++tiles;
    return make_cholesky({.tiles = tiles});
  }
  if (name == "job") return make_jobs(JobSet::train, 1, family.seed).front();
  return invalid_input(fmt::format(
      "'{}' is no family of graphs; take layered, random, stencil, fork-join, fft, cholesky or job",
      name));
}

tutti_graph* imported(Result<Imported> read, tutti_error* error) {
  if (!read) {
    tell(error, read.error());
    return nullptr;
  }
  std::string warnings;
  for (const std::string& warning : read->warnings) warnings += warning + "\n";
  return new tutti_graph{std::move(read->graph), std::move(warnings)};
}

}  // namespace
}  // namespace tutti::door

using namespace tutti;        // NOLINT: the rest of this file is in C's only namespace
using namespace tutti::door;  // NOLINT

tutti_graph_builder* tutti_graph_builder_new(const char* name) {
  return guarded<tutti_graph_builder*>(nullptr, nullptr, [&] {
    return new tutti_graph_builder{GraphBuilder(text_or(name, "graph"))};
  });
}

void tutti_graph_builder_free(tutti_graph_builder* builder) {
  delete builder;
}

int32_t tutti_graph_builder_input(tutti_graph_builder* builder, const tutti_value* value,
                                  int weight, tutti_error* error) {
  return guarded(error, int32_t{-1}, [&]() -> int32_t {
    Result<void> good = check_usable(builder);
    if (good) good = require("tutti_graph_builder_input", value);
    const Result<ValueSpec> spec = good ? value_of(*value) : Result<ValueSpec>(good.error());
    if (!spec) {
      tell(error, spec.error());
      return -1;
    }
    const ValueId id = builder->builder->add_input({.value = *spec, .weight = weight != 0});
    if (!builder->builder->too_large()) return id.index;
    tell(error, invalid_input("the graph is too large"));
    return -1;
  });
}

int32_t tutti_graph_builder_op(tutti_graph_builder* builder, const tutti_op* op,
                               tutti_error* error) {
  return guarded(error, int32_t{-1}, [&]() -> int32_t {
    Result<void> good = check_usable(builder);
    if (good) good = require("tutti_graph_builder_op", op);
    const Result<int32_t> id = good ? add_op(*builder, *op) : Result<int32_t>(good.error());
    if (id) return *id;
    tell(error, id.error());
    return -1;
  });
}

int32_t tutti_graph_builder_output(const tutti_graph_builder* builder, int32_t op, int32_t output) {
  if (!check_usable(builder) || op < 0 || op >= builder->builder->op_count()) return -1;
  const IdRange<ValueId> outputs = builder->builder->outputs(OpId{op});
  return output < 0 || output >= outputs.size() ? -1 : outputs.front().index + output;
}

tutti_graph* tutti_graph_builder_build(tutti_graph_builder* builder, tutti_error* error) {
  return guarded<tutti_graph*>(error, nullptr, [&]() -> tutti_graph* {
    if (const Result<void> good = check_usable(builder); !good) {
      tell(error, good.error());
      return nullptr;
    }
    Result<Graph> graph = std::move(*builder->builder).build();
    builder->builder.reset();
    if (graph) return new tutti_graph{std::move(*graph)};
    tell(error, graph.error());
    return nullptr;
  });
}

tutti_graph* tutti_graph_load(const char* path, tutti_error* error) {
  return guarded<tutti_graph*>(error, nullptr, [&]() -> tutti_graph* {
    const Result<void> good = require("tutti_graph_load", path);
    return imported(good ? load_graph(path) : Result<Imported>(good.error()), error);
  });
}

tutti_graph* tutti_graph_parse(const char* text, size_t length, const char* name,
                               tutti_error* error) {
  return guarded<tutti_graph*>(error, nullptr, [&]() -> tutti_graph* {
    if (const Result<void> good = require("tutti_graph_parse", text); !good) {
      tell(error, good.error());
      return nullptr;
    }
    Source source = Source::from_text(text_or(name, "graph"), std::string(text, length));
    return imported(load_graph(source), error);
  });
}

tutti_graph* tutti_graph_make(const tutti_family* family, tutti_error* error) {
  return guarded<tutti_graph*>(error, nullptr, [&]() -> tutti_graph* {
    const Result<tutti_family> options = options_of(family);
    Result<Graph> graph = options ? make_family(*options) : Result<Graph>(options.error());
    if (graph) return new tutti_graph{std::move(*graph)};
    tell(error, graph.error());
    return nullptr;
  });
}

const char* tutti_graph_warnings(const tutti_graph* graph) {
  return graph == nullptr ? "" : graph->warnings.c_str();
}

void tutti_graph_free(tutti_graph* graph) {
  delete graph;
}
