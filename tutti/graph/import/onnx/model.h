// What tutti needs to know of an ONNX model, as plain data: values with types, nodes in an order in
// which they can run. The bodies of loops and branches are among them: see bodies.cc. Only
// model.cc, bodies.cc, tensors.cc and order.cc see libonnx.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_MODEL_H_
#define TUTTI_GRAPH_IMPORT_ONNX_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/base/result.h"
#include "tutti/graph/graph.h"
#include "tutti/graph/import/import.h"

namespace tutti {

struct OnnxType {
  DType dtype = DType::unknown;
  int element_bytes = 0;  // 0: the type of the elements is not known
  bool shaped = false;    // false: dims are not known
  std::vector<int64_t> dims{};

  bool known() const { return shaped && element_bytes > 0; }
  double elements() const;
  int64_t bytes() const;  // requires known(); those of a model fit
};

struct OnnxValue {
  std::string name;
  OnnxType type{};
  // Known before the run: an initializer, or worked out from such and from shapes.
  bool constant = false;
  // The numbers of a small constant of whole numbers, as shapes are; none otherwise.
  std::optional<std::vector<int64_t>> numbers{};
  // Likewise of a small initializer of real numbers, as scales are.
  std::optional<std::vector<double>> reals{};
};

struct OnnxAttributes {
  std::map<std::string, std::vector<int64_t>> integers{};
  std::map<std::string, std::vector<double>> reals{};
  std::map<std::string, std::string> texts{};
  std::map<std::string, OnnxType> types{};  // of tensors, and element types by "to" and "dtype"

  int64_t integer(const std::string& key, int64_t fallback) const;
};

struct OnnxNode {
  std::string name;
  std::string op_type;         // with its domain before it, if that is not ONNX's own
  std::vector<int32_t> reads;  // values; -1 for an operand that is left out
  std::vector<int32_t> makes;  // values; -1 for a result that is left out
  OnnxAttributes attributes{};
  std::vector<int32_t> follows{};  // values that must be there before, and are not operands
  bool folded = false;             // all it makes is constant
};

struct OnnxModel {
  std::string name;
  std::vector<OnnxValue> values;
  std::vector<int32_t> inputs;  // values that are there at the start and are no initializers
  std::vector<OnnxNode> nodes;
  // For warnings: nodes whose bodies count once because their rounds are not known, as --dim calls
  // them, and open dimensions of such bodies, which count as 1.
  std::vector<std::string> once{};
  std::set<std::string> open{};
};

// Fails with a sentence on bytes that are no such model, on dimensions that are not known (naming
// them and the flag), and on nodes that read what nothing makes or are on a cycle.
Result<OnnxModel> read_onnx_model(Source& source, const ImportOptions& options);

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_MODEL_H_
