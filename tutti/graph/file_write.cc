// The writing half of graph/file.h.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/file/json_writer.h"
#include "tutti/base/fingerprint.h"
#include "tutti/graph/file.h"

namespace tutti {
namespace {

constexpr size_t kChunk = size_t{1} << 16;

// A column of given times and how a file spells the kinds it is for.
struct Column {
  std::string key;
  const std::vector<Duration>* times;
};

std::string kind_text(const Graph& graph, int kind) {
  return kind < 0 ? "*" : graph.device_kinds()[static_cast<size_t>(kind)];
}

std::vector<Column> run_time_columns(const Graph& graph) {
  std::vector<Column> columns;
  const int kinds = static_cast<int>(graph.device_kinds().size());
  for (int kind = -1; kind < kinds; ++kind) {
    if (const auto* times = graph.run_time_column(kind)) {
      columns.push_back({kind_text(graph, kind), times});
    }
  }
  return columns;
}

std::vector<Column> transfer_columns(const Graph& graph) {
  std::vector<Column> columns;
  const int kinds = static_cast<int>(graph.device_kinds().size());
  for (int from = -1; from < kinds; ++from) {
    for (int to = -1; to < kinds; ++to) {
      if (const auto* times = graph.transfer_column(from, to)) {
        columns.push_back({kind_text(graph, from) + ">" + kind_text(graph, to), times});
      }
    }
  }
  return columns;
}

// What the columns give for one op or edge: a number if it is for all kinds alone, else a table.
void write_times(JsonWriter& json, const std::vector<Column>& columns, size_t index) {
  std::vector<const Column*> given;
  for (const Column& column : columns) {
    if ((*column.times)[index].count() >= 0) given.push_back(&column);
  }
  if (given.empty()) {
    json.null();
  } else if (given.size() == 1 && (given[0]->key == "*" || given[0]->key == "*>*")) {
    json.value((*given[0]->times)[index]);
  } else {
    json.open_object();
    for (const Column* column : given) json.field(column->key, (*column->times)[index]);
    json.close_object();
  }
}

bool any_given(const std::vector<Column>& columns, int32_t begin, int32_t end) {
  for (const Column& column : columns) {
    for (int32_t i = begin; i < end; ++i) {
      if ((*column.times)[static_cast<size_t>(i)].count() >= 0) return true;
    }
  }
  return false;
}

// The entries that inputs and outputs share, inside an object that is open.
void write_value(JsonWriter& json, const Graph& graph, ValueId value) {
  json.field("bytes", graph.bytes(value));
  if (const auto shape = graph.shape(value); !shape.empty()) {
    json.key("shape").open_list();
    for (const int64_t size : shape) json.value(size);
    json.close_list();
  }
  if (graph.dtype(value) != DType::unknown) json.field("dtype", to_text(graph.dtype(value)));
}

void write_input(JsonWriter& json, const Graph& graph, ValueId value) {
  json.open_object().field("name", graph.value_name(value));
  write_value(json, graph, value);
  const Residence& residence = graph.residence(value);
  switch (residence.where) {
    case Residence::Where::everywhere:
      break;
    case Residence::Where::host:
      json.field("residence", "host");
      break;
    case Residence::Where::device:
      json.key("residence").open_object().field("device", residence.device).close_object();
      break;
  }
  if (graph.is_weight(value)) json.field("weight", true);
  json.close_object();
}

// The name that a reader gives an output by itself.
std::string default_name(const Graph& graph, OpId op, ValueId value) {
  std::string name(graph.op_name(op));
  const IdRange<ValueId> outputs = graph.outputs(op);
  if (outputs.size() > 1) name += fmt::format(":{}", value.index - outputs.front().index);
  return name;
}

void write_outputs(JsonWriter& json, const Graph& graph, OpId op) {
  json.key("outputs").open_list();
  for (const ValueId value : graph.outputs(op)) {
    json.open_object();
    const std::string name = graph.value_name(value);
    if (name != default_name(graph, op, value)) json.field("name", name);
    write_value(json, graph, value);
    json.close_object();
  }
  json.close_list();
}

void write_command(JsonWriter& json, const Command& command) {
  const auto write_texts = [&](const char* key, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    json.key(key).open_list();
    for (const std::string& text : texts) json.value(text);
    json.close_list();
  };
  json.key("command").open_object();
  write_texts("argv", command.argv);
  if (!command.environment.empty()) {
    json.key("environment").open_object();
    for (const auto& [name, text] : command.environment) json.field(name, text);
    json.close_object();
  }
  if (!command.directory.empty()) json.field("directory", command.directory);
  write_texts("input_files", command.input_files);
  write_texts("output_files", command.output_files);
  if (command.timeout.count() != 0) json.field("timeout_ns", command.timeout);
  if (command.cpu_time.count() != 0) json.field("cpu_time_ns", command.cpu_time);
  if (command.memory_bytes != 0) json.field("memory_bytes", command.memory_bytes);
  json.close_object();
}

void write_op(JsonWriter& json, const Graph& graph, OpId op, const std::vector<Column>& run_times,
              const std::vector<Column>& transfers) {
  json.open_object().field("name", graph.op_name(op)).field("kind", graph.op_kind_name(op));
  const IdRange<EdgeId> edges = graph.edges(op);
  if (!edges.empty()) {
    json.key("operands").open_list();
    for (const ValueId value : graph.operands(op)) json.value(graph.value_name(value));
    json.close_list();
  }
  write_outputs(json, graph, op);
  if (graph.flops(op) != 0) json.field("flops", graph.flops(op));
  if (graph.transient_bytes(op) != 0) json.field("transient_bytes", graph.transient_bytes(op));
  if (any_given(run_times, op.index, op.index + 1)) {
    json.key("run_time_ns");
    write_times(json, run_times, static_cast<size_t>(op.index));
  }
  const int32_t first_edge = edges.front().index;
  if (any_given(transfers, first_edge, first_edge + edges.size())) {
    json.key("transfer_time_ns").open_list();
    for (const EdgeId edge : edges) {
      write_times(json, transfers, static_cast<size_t>(edge.index));
    }
    json.close_list();
  }
  if (const auto attributes = graph.attributes(op); !attributes.empty()) {
    json.key("attributes").open_object();
    for (const auto& [key, text] : attributes) json.field(key, text);
    json.close_object();
  }
  if (const Command* command = graph.command(op)) write_command(json, *command);
  json.close_object();
}

}  // namespace

void write_graph(const Graph& graph, Output& output) {
  JsonWriter json;
  const auto pass_on = [&](size_t when_longer_than) {
    if (json.text().size() > when_longer_than) output.write(json.take());
  };
  json.open_object()
      .field("format", "tutti-graph")
      .field("schema_version", graph.command_count() == 0 ? 1 : 2);
  json.field("name", graph.name()).field("fingerprint", fingerprint_text(graph.fingerprint()));
  json.key("inputs").open_list();
  for (const ValueId value : graph.values()) {
    if (graph.producer(value).valid()) continue;
    write_input(json, graph, value);
    pass_on(kChunk);
  }
  json.close_list().key("ops").open_list();
  const std::vector<Column> run_times = run_time_columns(graph);
  const std::vector<Column> transfers = transfer_columns(graph);
  for (const OpId op : graph.ops()) {
    write_op(json, graph, op, run_times, transfers);
    pass_on(kChunk);
  }
  json.close_list().close_object();
  pass_on(0);
}

}  // namespace tutti
