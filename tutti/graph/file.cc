#include "tutti/graph/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/file/fields.h"
#include "tutti/base/fingerprint.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/file_parts.h"
#include "tutti/graph/limits.h"
#include "tutti/graph/name_table.h"

namespace tutti {
namespace {

using Kind = Document::Kind;

// Version 2 has commands. Graphs without are written as version 1, which older programs read.
constexpr int64_t kSchemaVersion = 1;
constexpr int64_t kSchemaVersionWithCommands = 2;

class GraphReader {
 public:
  explicit GraphReader(std::string file) : file_(std::move(file)), builder_("graph") {}

  Result<void> take(std::string_view key, const Document& item) {
    return key == "ops" ? take_op(item) : take_input(item);
  }

  // `root` is what remains of the file once ops and inputs are taken out.
  Result<Graph> finish(const Document& root) {
    Fields fields(root, file_, "graph");
    if (fields.text("format") != "tutti-graph") fields.fail("format must be \"tutti-graph\"");
    fields.schema_version(kSchemaVersion, kSchemaVersionWithCommands);
    if (has_commands_ && fields.good() && root.find("schema_version")->integer == kSchemaVersion) {
      fields.fail("ops with commands need schema_version 2");
    }
    builder_.set_name(fields.text("name", "graph"));
    const std::string fingerprint = fields.text("fingerprint", "");
    fields.items("inputs");
    const Document* ops = fields.entry("ops");
    if (ops == nullptr || ops->kind != Kind::array) fields.fail("graph needs a list \"ops\"");
    if (auto done = fields.done(); !done) return done.error();
    if (auto connected = connect_forward_operands(); !connected) return connected.error();
    Result<Graph> graph = std::move(builder_).build();
    if (!graph) return Error{graph.error().kind, file_ + ": " + graph.error().message};
    if (!fingerprint.empty() && fingerprint != fingerprint_text(graph->fingerprint())) {
      return error_at(file_, root.find("fingerprint")->line,
                      fmt::format("the fingerprint is {} but the graph's is {}; remove the line if "
                                  "the edit was meant",
                                  fingerprint, fingerprint_text(graph->fingerprint())));
    }
    return graph;
  }

 private:
  struct ForwardOperand {
    EdgeId edge;
    int32_t name;
    int line;
  };

  Result<void> take_input(const Document& item) {
    Fields fields(item, file_, "input");
    InputSpec input;
    input.value = value_from(fields);
    if (input.value.name.empty()) fields.fail("input needs the key \"name\"");
    input.residence = residence_from(fields);
    input.weight = fields.boolean("weight", false);
    if (auto done = fields.done(); !done) return done.error();
    const ValueId value = builder_.add_input(input);
    if (builder_.too_large()) return std::move(builder_).build().error();
    return name_value(input.value.name, value, item.line);
  }

  Result<void> take_op(const Document& item) {
    const Document* name_entry = item.find("name");
    Fields fields(item, file_, name_entry == nullptr ? "op" : "op '" + name_entry->text + "'");
    const std::string name = fields.text("name");
    const std::string kind = fields.text("kind", "op");
    read_operands(fields);
    if (auto read = read_outputs(fields, name); !read) return read;
    const std::vector<GivenTime> run_times = run_times_from(fields);
    const auto transfers = transfers_from(fields, operands_.size());
    read_attributes(fields);
    const std::optional<Command> command = command_from(fields, file_);
    has_commands_ = has_commands_ || command.has_value();
    const OpSpec op = {
        .name = name,
        .kind = kind,
        .operands = operands_,
        .outputs = outputs_,
        .flops = fields.number("flops", {.fallback = 0, .most = kMostFlops}),
        .transient_bytes = fields.integer("transient_bytes", {.fallback = 0, .most = kMostBytes}),
        .run_times = run_times,
        .attributes = attributes_,
        .command = command ? &*command : nullptr};
    if (auto done = fields.done(); !done) return done.error();

    const int32_t first_edge = builder_.edge_count();
    const OpId id = builder_.add_op(op);
    if (builder_.too_large()) return std::move(builder_).build().error();
    note_forward_operands(first_edge, item.line);
    for (size_t i = 0; i < transfers.size(); ++i) {
      const EdgeId edge{first_edge + static_cast<int32_t>(i)};
      for (const GivenTransfer& given : transfers[i]) builder_.give_transfer(edge, given);
    }
    return name_op(name, id, item.line);
  }

  // Into operands_ and operand_names_; values that were not made yet are invalid.
  void read_operands(Fields& fields) {
    operands_.clear();
    operand_names_.clear();
    for (const Document& item : fields.items("operands")) {
      if (item.kind != Kind::text || item.text.empty()) {
        fields.fail_at(item, "an operand must be the name of a value");
        return;
      }
      operand_names_.push_back(number_of(item.text));
      operands_.push_back(value_of_name_[operand_names_.back()]);
    }
  }

  Result<void> read_outputs(Fields& fields, const std::string& op_name) {
    outputs_.clear();
    const Document* entry = fields.entry("outputs");
    if (entry == nullptr) {
      outputs_.emplace_back();
      return {};
    }
    if (entry->kind != Kind::array) fields.fail_at(*entry, "outputs must be a list of values");
    for (const Document& item : entry->items) {
      Fields output(item, file_, "output of op '" + op_name + "'");
      outputs_.push_back(value_from(output));
      if (auto done = output.done(); !done) return done.error();
    }
    if (outputs_.size() == 1 && outputs_[0].name == op_name) outputs_[0].name.clear();
    return {};
  }

  void read_attributes(Fields& fields) {
    attributes_.clear();
    const Document* entry = fields.entry("attributes");
    if (entry == nullptr) return;
    if (entry->kind != Kind::object) fields.fail_at(*entry, "attributes must be a table of texts");
    for (size_t i = 0; i < entry->keys.size(); ++i) {
      if (entry->items[i].kind != Kind::text) {
        fields.fail_at(entry->items[i],
                       fmt::format("attribute '{}' must be a text; quote it", entry->keys[i]));
      }
      attributes_.emplace_back(entry->keys[i], entry->items[i].text);
    }
  }

  void note_forward_operands(int32_t first_edge, int line) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i].valid()) continue;
      forward_.push_back({EdgeId{first_edge + static_cast<int32_t>(i)}, operand_names_[i], line});
    }
  }

  Result<void> name_op(const std::string& name, OpId id, int line) {
    const int32_t number = number_of(name);
    if (is_op_[number]) {
      return error_at(file_, line, fmt::format("op '{}' stands twice; rename one", name));
    }
    is_op_[number] = true;
    const IdRange<ValueId> values = builder_.outputs(id);
    for (const ValueId value : values) {
      const auto k = static_cast<size_t>(value.index - values.front().index);
      Result<void> named;
      if (!outputs_[k].name.empty()) {
        named = name_value(outputs_[k].name, value, line);
      } else {
        named = name_value(values.size() == 1 ? name : fmt::format("{}:{}", name, k), value, line);
      }
      if (!named) return named;
    }
    return {};
  }

  Result<void> name_value(const std::string& name, ValueId value, int line) {
    ValueId& named = value_of_name_[number_of(name)];
    if (named.valid()) {
      return error_at(file_, line, fmt::format("value '{}' stands twice; rename one", name));
    }
    named = value;
    return {};
  }

  Result<void> connect_forward_operands() {
    for (const ForwardOperand& operand : forward_) {
      const ValueId value = value_of_name_[operand.name];
      if (!value.valid()) {
        return error_at(file_, operand.line,
                        fmt::format("operand '{}' is no input and no op makes it; fix the name or "
                                    "add the op",
                                    names_.name(operand.name)));
      }
      builder_.connect(operand.edge, value);
    }
    return {};
  }

  int32_t number_of(std::string_view name) {
    const int32_t number = names_.add(name);
    if (static_cast<size_t>(number) == value_of_name_.size()) {
      value_of_name_.emplace_back();
      is_op_.push_back(false);
    }
    return number;
  }

  std::string file_;
  GraphBuilder builder_;
  bool has_commands_ = false;
  NameTable names_;
  std::vector<ValueId> value_of_name_;  // invalid: read but not made yet
  std::vector<bool> is_op_;             // by name
  std::vector<ForwardOperand> forward_;
  // Of the op being read; members so that their memory is used again.
  std::vector<int32_t> operand_names_;
  std::vector<ValueId> operands_;
  std::vector<ValueSpec> outputs_;
  std::vector<std::pair<std::string, std::string>> attributes_;
};

}  // namespace

bool looks_like_graph_file(std::string_view start) {
  const auto skip = [&](std::string_view expected) {
    const size_t first = start.find_first_not_of(" \t\r\n");
    start.remove_prefix(std::min(first, start.size()));
    if (start.substr(0, expected.size()) != expected) return false;
    start.remove_prefix(expected.size());
    return true;
  };
  skip("\xef\xbb\xbf");
  return skip("{") && skip("\"format\"") && skip(":") && skip("\"tutti-graph\"");
}

Result<Graph> read_graph(Source& source) {
  GraphReader reader(source.name());
  const Result<Document> root = read_json_streamed(
      source, {"ops", "inputs"},
      [&](std::string_view key, Document&& item) { return reader.take(key, item); });
  if (!root) return root.error();
  return reader.finish(*root);
}

}  // namespace tutti
