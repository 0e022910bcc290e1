#include "tutti/graph/import/dnn_partitioning.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tutti/base/file/fields.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/import/incoming.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/limits.h"
#include "tutti/graph/name_table.h"

namespace tutti {
namespace {

constexpr double kNsPerMs = 1e6;

struct PartitionedNode {
  Duration cpu_time{};
  Duration accelerator_time{};
  bool on_accelerator = true;
  std::string colour{};  // empty: none
  int64_t bytes = 0;
};

struct Link {
  int64_t from_id = 0;
  int64_t to_id = 0;
  Duration time{};
  int64_t bytes = 0;
  int line = 0;
};

Duration milliseconds(Fields& fields, const char* key) {
  // Half of the longest, as two accelerators are two transfers apart.
  return nanoseconds_of(
      kNsPerMs * fields.number(key, {.most = static_cast<double>(kLongestTimeNs) / kNsPerMs / 2}));
}

// 0, 1, false or true.
bool flag(Fields& fields, std::string_view key, bool fallback) {
  const Document* entry = fields.entry(key);
  if (entry == nullptr || entry->kind == Document::Kind::null) return fallback;
  if (entry->kind == Document::Kind::boolean) return entry->boolean;
  return fields.as_integer(*entry, key, {.most = 1}).value_or(0) != 0;
}

class DnnReader {
 public:
  explicit DnnReader(std::string file) : file_(std::move(file)) {}

  static constexpr bool kHasName = false;
  std::vector<int32_t> to_op{};  // by edge
  int32_t op_count() const { return static_cast<int32_t>(nodes_.size()); }

  Result<void> take_node(const Document& item) {
    Fields fields(item, file_, "node");
    const int64_t id = fields.integer("id", {});
    PartitionedNode node;
    node.cpu_time = milliseconds(fields, "cpuLatency");
    node.on_accelerator = flag(fields, "supportedOnFpga", true);
    if (node.on_accelerator) node.accelerator_time = milliseconds(fields, "fpgaLatency");
    const Document* colour = fields.entry("colorClass");
    if (colour != nullptr && colour->kind != Document::Kind::null) {
      node.colour = std::to_string(fields.as_integer(*colour, "colorClass", {}).value_or(0));
    }
    node.bytes = static_cast<int64_t>(
        fields.number("size", {.fallback = 0.0, .most = static_cast<double>(kMostBytes)}));
    const std::string name = fields.text("name", fmt::format("node{}", id));
    if (const auto done = fields.done_with_foreign_keys(); !done) return done.error();
    const auto number = static_cast<int32_t>(nodes_.size());
    if (!number_of_id_.emplace(id, number).second) {
      return error_at(file_, item.line, fmt::format("the id {} stands twice", id));
    }
    // Names are for people and may repeat; ids do not.
    const int32_t before = names_.size();
    if (names_.add(name) != before && names_.add(fmt::format("{}#{}", name, id)) != before) {
      return error_at(file_, item.line, fmt::format("the name '{}' stands twice", shown(name)));
    }
    nodes_.push_back(std::move(node));
    return {};
  }

  Result<void> take_edge(const Document& item) {
    Fields fields(item, file_, "edge");
    Link link;
    link.from_id = fields.integer("sourceId", {});
    link.to_id = fields.integer("destId", {});
    link.time = milliseconds(fields, "cost");
    link.bytes = static_cast<int64_t>(
        fields.number("size", {.fallback = 0.0, .most = static_cast<double>(kMostBytes)}));
    link.line = item.line;
    links_.push_back(link);
    return fields.done_with_foreign_keys();
  }

  void take_header(Fields& fields) {
    devices_.accelerators = count(fields, "maxFPGAs", 0);
    devices_.cpus = count(fields, "maxCPUs", devices_.accelerators > 0 ? 1 : 0);
    devices_.accelerator_bytes = static_cast<int64_t>(fields.number(
        "maxSizePerFPGA", {.fallback = 0.0, .most = static_cast<double>(kMostBytes)}));
  }

  void add_to(Imported& imported) const {
    if (devices_.accelerators + devices_.cpus > 0) imported.devices = devices_;
  }

  Result<void> resolve_edges() {
    output_bytes_.assign(nodes_.size(), 0);
    for (const Link& link : links_) {
      for (const int64_t id : {link.from_id, link.to_id}) {
        if (number_of_id_.contains(id)) continue;
        return error_at(file_, link.line, fmt::format("there is no node with the id {}", id));
      }
      from_.push_back(number_of_id_.at(link.from_id));
      to_op.push_back(number_of_id_.at(link.to_id));
      int64_t& bytes = output_bytes_[from_.back()];
      bytes = std::max(bytes, link.bytes);
    }
    return {};
  }

  void add_inputs(GraphBuilder& builder) {
    weights_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size() && !builder.too_large(); ++i) {
      if (nodes_[i].bytes == 0) continue;
      weights_[i] = builder.add_input(
          {.value = {.name = fmt::format("{}:size", names_.name(static_cast<int32_t>(i))),
                     .bytes = nodes_[i].bytes},
           .weight = true});
    }
    first_value_ = builder.value_count();
  }

  void add_op(GraphBuilder& builder, int32_t op, const Incoming& incoming) const {
    const PartitionedNode& node = nodes_[op];
    std::vector<ValueId> operands;
    for (const size_t edge : incoming.of(op)) {
      operands.push_back(ValueId{first_value_ + from_[edge]});
    }
    if (weights_[op].valid()) operands.push_back(weights_[op]);
    const ValueSpec output = {.bytes = output_bytes_[op]};
    std::vector<GivenTime> run_times = {{"cpu", node.cpu_time}};
    std::vector<std::pair<std::string, std::string>> attributes;
    if (node.on_accelerator) {
      run_times.push_back({"", node.accelerator_time});
    } else {
      attributes.emplace_back("only_on", "cpu");
    }
    if (!node.colour.empty()) attributes.emplace_back("colocate", node.colour);
    EdgeId at{builder.edge_count()};
    builder.add_op({.name = names_.name(op),
                    .kind = "layer",
                    .operands = operands,
                    .outputs = {&output, 1},
                    .run_times = run_times,
                    .attributes = attributes});
    if (builder.too_large()) return;
    for (const size_t edge : incoming.of(op)) {
      const Duration time = links_[edge].time;
      builder.give_transfer(at, {"cpu", "cpu", Duration{0}});
      builder.give_transfer(at, {"cpu", "", time});
      builder.give_transfer(at, {"", "cpu", time});
      builder.give_transfer(at, {"", "", 2 * time});
      ++at.index;
    }
  }

 private:
  static int count(Fields& fields, const char* key, int fallback) {
    constexpr int64_t kMostDevices = 1000;
    return static_cast<int>(fields.integer(key, {.fallback = fallback, .most = kMostDevices}));
  }

  std::string file_;
  PlacementDevices devices_;
  NameTable names_;
  std::unordered_map<int64_t, int32_t> number_of_id_;
  // By node.
  std::vector<PartitionedNode> nodes_;
  std::vector<ValueId> weights_;
  std::vector<int64_t> output_bytes_;
  int32_t first_value_ = 0;
  // By edge.
  std::vector<Link> links_;
  std::vector<int32_t> from_;
};

}  // namespace

bool looks_like_dnn_partitioning(std::string_view start) {
  return looks_like_json(start, '{', "fpgaLatency");
}

Result<Imported> read_dnn_partitioning(Source& source, const ImportOptions& /*options*/) {
  return read_nodes_and_edges(source, DnnReader(source.name()));
}

}  // namespace tutti
