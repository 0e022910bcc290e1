// What the rules of ONNX nodes ask of a node: its operands' types and numbers, its attributes.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_FACTS_H_
#define TUTTI_GRAPH_IMPORT_ONNX_FACTS_H_

#include <optional>
#include <string>
#include <vector>

#include "tutti/graph/import/onnx/model.h"

namespace tutti {

using OnnxDims = std::vector<int64_t>;
// None: the rule does not say.
using MaybeDims = std::optional<OnnxDims>;

class OnnxFacts {
 public:
  OnnxFacts(const OnnxModel& model, const OnnxNode& node) : model_(model), node_(node) {}

  const OnnxNode& node() const { return node_; }
  size_t operands() const { return node_.reads.size(); }

  // nullptr: it is left out.
  const OnnxValue* operand(size_t index) const {
    if (index >= node_.reads.size() || node_.reads[index] < 0) return nullptr;
    return &model_.values[static_cast<size_t>(node_.reads[index])];
  }
  // nullptr: not known.
  const OnnxDims* dims(size_t index) const {
    const OnnxValue* value = operand(index);
    return value != nullptr && value->type.shaped ? &value->type.dims : nullptr;
  }
  const OnnxDims* numbers(size_t index) const {
    const OnnxValue* value = operand(index);
    return value != nullptr && value->numbers ? &*value->numbers : nullptr;
  }

  const OnnxDims* attribute(const char* key) const {
    const auto found = node_.attributes.integers.find(key);
    return found == node_.attributes.integers.end() ? nullptr : &found->second;
  }
  int64_t integer(const char* key, int64_t fallback) const {
    return node_.attributes.integer(key, fallback);
  }
  std::string text(const char* key) const {
    const auto found = node_.attributes.texts.find(key);
    return found == node_.attributes.texts.end() ? "" : found->second;
  }
  // What is an operand in new opsets and was an attribute in old ones. None: it is neither, or not
  // known; `stated` tells these apart.
  const OnnxDims* either(const char* key, size_t index) const {
    return operand(index) != nullptr ? numbers(index) : attribute(key);
  }
  bool stated(const char* key, size_t index) const {
    return operand(index) != nullptr || attribute(key) != nullptr;
  }

 private:
  const OnnxModel& model_;
  const OnnxNode& node_;
};

// An axis that may count from the end; none if there is no such axis.
inline std::optional<size_t> onnx_axis(int64_t axis, size_t rank) {
  const auto count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_FACTS_H_
