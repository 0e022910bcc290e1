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

  static constexpr bool kHasName = true;
  std::vector<int32_t> to_op{};  // by edge
  int32_t op_count() const { return static_cast<int32_t>(nodes_.size()); }

  Result<void> resolve_edges() const {
    for (size_t i = 0; i < from_.size(); ++i) {
      if (std::max(from_[i], to_op[i]) < static_cast<int64_t>(nodes_.size())) continue;
      return error_at(file_, lines_[i],
                      fmt::format("the edge from {} to {} is out of range: there are {} nodes",
                                  from_[i], to_op[i], nodes_.size()));
    }
    return {};
  }

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
    to_op.push_back(static_cast<int32_t>(fields.integer("dst", kId)));
    lines_.push_back(item.line);
    transfers_.push_back({microseconds(fields, "CC"), microseconds(fields, "CG"),
                          microseconds(fields, "GC"), microseconds(fields, "GG")});
    return fields.done_with_foreign_keys();
  }

  void take_header(Fields& /*fields*/) {}
  void add_to(Imported& /*imported*/) const {}
  static void add_inputs(GraphBuilder& /*builder*/) {}

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

 private:
  std::string file_;
  NameTable kernels_;
  std::vector<HoftNode> nodes_;
  // By edge.
  std::vector<int32_t> from_;
  std::vector<int> lines_;
  std::vector<Transfers> transfers_;
};

}  // namespace

bool looks_like_hoft(std::string_view start) {
  return looks_like_json(start, '{', "cpu_us");
}

Result<Imported> read_hoft(Source& source, const ImportOptions& /*options*/) {
  return read_nodes_and_edges(source, HoftReader(source.name()));
}

}  // namespace tutti
