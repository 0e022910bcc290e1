#include "tutti/graph/import/onnx/shard.h"

#include <fmt/format.h>

#include <tuple>
#include <unordered_set>
#include <utility>

#include "tutti/graph/import/onnx/flops.h"

namespace tutti {
namespace {

constexpr double kLargeShare = 0.01;  // of the model's flops, or of its weights

class ProductSharder {
 public:
  ProductSharder(OnnxModel& model, int shards) : model_(model), shards_(shards) {
    for (const OnnxValue& value : model.values) names_.insert(value.name);
    for (const OnnxNode& node : model.nodes) names_.insert(node.name);
  }

  void shard() {
    double flops = 0;
    double bytes = 0;  // of weights that several nodes share, as often as they do
    for (const OnnxNode& node : model_.nodes) {
      flops += flops_of(node);
      for (const int32_t read : node.reads) bytes += node.folded ? 0 : weight_bytes(read);
    }
    const auto is_large = [&](const OnnxNode& node) {
      return flops_of(node) >= kLargeShare * flops ||
             weight_bytes(node.reads[1]) >= kLargeShare * bytes;
    };
    std::vector<OnnxNode> nodes;
    for (OnnxNode& node : model_.nodes) {
      if (can_split(node) && is_large(node)) {
        split(node, nodes);
      } else {
        nodes.push_back(std::move(node));
      }
    }
    model_.nodes = std::move(nodes);
  }

 private:
  double flops_of(const OnnxNode& node) const {
    return node.folded ? 0 : onnx_flops(model_, node).value_or(0);
  }
  double weight_bytes(int32_t read) const {
    const bool weight = read >= 0 && value(read).constant && value(read).type.known();
    return weight ? static_cast<double>(value(read).type.bytes()) : 0;
  }
  const OnnxValue& value(int32_t number) const {
    return model_.values[static_cast<size_t>(number)];
  }

  // Which dimension of the weights is the columns.
  static size_t column_axis(const OnnxNode& node) {
    return node.op_type == "Gemm" && node.attributes.integer("transB", 0) != 0 ? 0 : 1;
  }

  bool can_split(const OnnxNode& node) const {
    if (node.folded || (node.op_type != "MatMul" && node.op_type != "Gemm")) return false;
    if (node.reads.size() < 2 || node.reads[0] < 0 || node.reads[1] < 0) return false;
    if (node.makes.size() != 1 || node.makes[0] < 0) return false;
    const OnnxValue& weights = value(node.reads[1]);
    const OnnxType& made = value(node.makes[0]).type;
    if (!weights.constant || !weights.type.known() || weights.type.dims.size() != 2) return false;
    if (!made.known() || made.dims.empty()) return false;
    const int64_t columns = weights.type.dims[column_axis(node)];
    if (columns < shards_ || made.dims.back() != columns) return false;
    for (size_t i = 2; i < node.reads.size(); ++i) {  // what is added
      if (node.reads[i] < 0) continue;
      if (!value(node.reads[i]).constant || !value(node.reads[i]).type.known()) return false;
    }
    return true;
  }

  void split(const OnnxNode& node, std::vector<OnnxNode>& nodes) {
    const int32_t made = node.makes[0];
    const size_t last = value(made).type.dims.size() - 1;
    const int64_t columns = value(made).type.dims[last];
    OnnxNode join{
        .name = own_name(node.name + ".join"), .op_type = "Concat", .reads = {}, .makes = {made}};
    join.attributes.integers["axis"] = {static_cast<int64_t>(last)};
    for (int block = 0; block < shards_; ++block) {
      OnnxNode part = node;
      part.name = own_name(fmt::format("{}[{}]", node.name, block));
      part.reads[1] = block_of(node.reads[1], column_axis(node), block);
      for (size_t i = 2; i < node.reads.size(); ++i) {
        if (node.reads[i] < 0) continue;
        const std::vector<int64_t>& dims = value(node.reads[i]).type.dims;
        if (dims.empty() || dims.back() != columns) continue;  // the same for every column
        part.reads[i] = block_of(node.reads[i], dims.size() - 1, block);
      }
      part.makes = {add_block(made, last, block)};
      join.reads.push_back(part.makes[0]);
      nodes.push_back(std::move(part));
    }
    nodes.push_back(std::move(join));
  }

  // Of weights, which several products may share.
  int32_t block_of(int32_t whole, size_t axis, int block) {
    const auto key = std::tuple(whole, axis, block);
    const auto known = blocks_.find(key);
    if (known != blocks_.end()) return known->second;
    return blocks_[key] = add_block(whole, axis, block);
  }

  int32_t add_block(int32_t whole, size_t axis, int block) {
    OnnxValue part{.name = own_name(fmt::format("{}[{}]", value(whole).name, block)),
                   .type = value(whole).type,
                   .constant = value(whole).constant};
    const int64_t size = part.type.dims[axis];
    // Sizes are below 2^60 bytes and blocks below 2^12, so that products could pass 2^63.
    const auto begin = [&](int64_t b) { return size / shards_ * b + size % shards_ * b / shards_; };
    part.type.dims[axis] = begin(block + 1) - begin(block);
    model_.values.push_back(std::move(part));
    return static_cast<int32_t>(model_.values.size()) - 1;
  }

  std::string own_name(std::string name) {
    while (!names_.insert(name).second) name += '+';
    return name;
  }

  OnnxModel& model_;
  int shards_;
  std::unordered_set<std::string> names_;
  std::map<std::tuple<int32_t, size_t, int>, int32_t> blocks_;
};

}  // namespace

void shard_onnx_products(OnnxModel& model, int shards) {
  if (shards > 1) ProductSharder(model, shards).shard();
}

}  // namespace tutti
