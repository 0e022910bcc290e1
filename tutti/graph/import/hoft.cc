#include "tutti/graph/import/hoft.h"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/file/fields.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/import/incoming.h"
#include "tutti/graph/import/text.h"
#include "tutti/graph/name_table.h"

namespace tutti {
namespace {

struct HoftNode {
  int32_t kernel;  // in the table of kernels
  Duration cpu_time;
  Duration gpu_time;
};

struct Transfers {
  Duration cpu_cpu;
  Duration cpu_gpu;
  Duration gpu_cpu;
  Duration gpu_gpu;
};

Duration microseconds(Fields& fields, const char* key) {
  constexpr double kNsPerUs = 1e3;
  return nanoseconds_of(
      kNsPerUs * fields.number(key, {.most = static_cast<double>(kLongestTimeNs) / kNsPerUs}));
}

class HoftReader {
 public:
  explicit HoftReader(std::string file) : file_(std::move(file)) {}

  Result<void> take(std::string_view key, const Document& item) {
    return key == "nodes" ? take_node(item) : take_edge(item);
  }

  Result<Graph> finish(const std::string& name) {
    for (size_t i = 0; i < from_.size(); ++i) {
      if (std::max(from_[i], to_[i]) < static_cast<int64_t>(nodes_.size())) continue;
      return error_at(file_, lines_[i],
                      fmt::format("the edge from {} to {} is out of range: there are {} nodes",
                                  from_[i], to_[i], nodes_.size()));
    }
    GraphBuilder builder(name);
    const auto ops = static_cast<int32_t>(nodes_.size());
    const Incoming incoming(to_, ops);
    for (int32_t op = 0; op < ops && !builder.too_large(); ++op) add_op(builder, op, incoming);
    Result<Graph> graph = std::move(builder).build();
    if (!graph) return invalid_input(file_ + ": " + graph.error().message);
    return graph;
  }

 private:
  Result<void> take_node(const Document& item) {
    Fields fields(item, file_, "node");
    const int64_t id = fields.integer("id", {});
    if (id != static_cast<int64_t>(nodes_.size())) {
      fields.fail(
          fmt::format("node {} stands where {} is due; ids ascend from 0", id, nodes_.size()));
    }
    nodes_.push_back({kernels_.add(fields.text("kernel")), microseconds(fields, "cpu_us"),
                      microseconds(fields, "gpu_us")});
    return fields.done_with_foreign_keys();
  }

  Result<void> take_edge(const Document& item) {
    Fields fields(item, file_, "edge");
    constexpr Fields::Whole kId = {.most = std::numeric_limits<int32_t>::max()};
    from_.push_back(static_cast<int32_t>(fields.integer("src", kId)));
    to_.push_back(static_cast<int32_t>(fields.integer("dst", kId)));
    lines_.push_back(item.line);
    transfers_.push_back({microseconds(fields, "CC"), microseconds(fields, "CG"),
                          microseconds(fields, "GC"), microseconds(fields, "GG")});
    return fields.done_with_foreign_keys();
  }

  void add_op(GraphBuilder& builder, int32_t op, const Incoming& incoming) {
    // Every op makes one value and there are no inputs, so that values are numbered like ops.
    std::vector<ValueId> operands;
    for (const size_t edge : incoming.of(op)) operands.push_back(ValueId{from_[edge]});
    const std::vector<ValueSpec> outputs(1);
    const GivenTime run_times[] = {{"cpu", nodes_[op].cpu_time}, {"gpu", nodes_[op].gpu_time}};
    EdgeId at{builder.edge_count()};
    builder.add_op({.name = fmt::format("op{}", op),
                    .kind = kernels_.name(nodes_[op].kernel),
                    .operands = operands,
                    .outputs = outputs,
                    .run_times = run_times});
    for (const size_t edge : incoming.of(op)) {
      const Transfers& times = transfers_[edge];
      builder.give_transfer(at, {"cpu", "cpu", times.cpu_cpu});
      builder.give_transfer(at, {"cpu", "gpu", times.cpu_gpu});
      builder.give_transfer(at, {"gpu", "cpu", times.gpu_cpu});
      builder.give_transfer(at, {"gpu", "gpu", times.gpu_gpu});
      ++at.index;
    }
  }

  std::string file_;
  NameTable kernels_;
  std::vector<HoftNode> nodes_;
  // By edge.
  std::vector<int32_t> from_;
  std::vector<int32_t> to_;
  std::vector<int> lines_;
  std::vector<Transfers> transfers_;
};

}  // namespace

bool looks_like_hoft(std::string_view start) {
  const size_t first = start.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && start[first] == '{' &&
         start.find("\"cpu_us\"") != std::string_view::npos;
}

Result<Imported> read_hoft(Source& source, const ImportOptions& /*options*/) {
  HoftReader reader(source.name());
  const Result<Document> root = read_json_streamed(
      source, {"nodes", "edges"},
      [&](std::string_view key, Document&& item) { return reader.take(key, item); });
  if (!root) return root.error();
  Fields fields(*root, source.name(), "graph");
  const std::string name = fields.text("name", graph_name_of(source));
  fields.items("nodes");
  fields.items("edges");
  if (auto done = fields.done_with_foreign_keys(); !done) return done.error();
  Result<Graph> graph = reader.finish(name);
  if (!graph) return graph.error();
  return Imported{.graph = std::move(*graph)};
}

}  // namespace tutti
