// Reads an ONNX graph and the graphs inside its nodes. For model.cc (values, nodes) and bodies.cc
// (nodes with bodies) alone; needs libonnx.

#ifndef TUTTI_GRAPH_IMPORT_ONNX_READER_H_
#define TUTTI_GRAPH_IMPORT_ONNX_READER_H_

#include <onnx/onnx_pb.h>

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tutti/graph/import/onnx/model.h"

namespace tutti {

class OnnxReader {
 public:
  OnnxReader(std::string file, const ImportOptions& options);

  Result<OnnxModel> read(const std::string& bytes);

 private:
  // What the nodes of one graph can name: its own values, and those of the graphs around it.
  struct Scope {
    const Scope* outer = nullptr;       // of a body: the graph of its node
    std::string prefix{};               // before the names of nodes and values
    std::string path{};                 // the same without rounds: how --dim calls the loops in it
    int32_t first_value = 0;            // of a body: those from here on are made by it
    std::vector<int32_t> conditions{};  // of a body: values that decide whether it runs
    std::unordered_map<std::string, int32_t> numbers{};
    std::unordered_map<std::string, const onnx::NodeProto*> constants{};
    std::unordered_map<std::string, const onnx::TypeProto*> stated{};
  };
  using Numbers = std::vector<int32_t>;

  Error error(const std::string& sentence) const;
  Result<void> parse(const std::string& bytes);

  // Dimensions. Sizes that are given are filled in, and 1 for batches; the others go to `missing`,
  // if there is such a list.
  Result<void> set_dimensions(onnx::GraphProto& graph);
  Result<void> set_other_dimensions(onnx::GraphProto& graph);
  Result<void> set_dimensions(onnx::ValueInfoProto& value, std::set<std::string>* missing);
  std::optional<int64_t> given_size(const std::string& name) const;
  Result<void> check_given_dimensions() const;

  // Values.
  static std::optional<int32_t> find(const std::string& name, const Scope& scope);
  Result<void> bind(const std::string& name, int32_t number, Scope& scope);
  Result<int32_t> add_value(const std::string& name, Scope& scope);
  // Takes the type over, unless a value of it would be absurdly large.
  Result<void> set_type(int32_t number, OnnxType type);
  Result<void> settle_type(int32_t number, const OnnxType& inferred, const std::string& name,
                           const Scope& scope);
  Result<void> check_dims(const onnx::TensorProto& tensor) const;
  Result<void> add_initializers(const onnx::GraphProto& graph, Scope& scope);
  Result<void> add_inputs(const onnx::GraphProto& graph, Scope& scope);

  // Nodes.
  Result<void> add_nodes(onnx::GraphProto& graph, Scope& scope);
  Result<void> add_node(onnx::NodeProto& proto, Scope& scope);
  Result<void> add_plain_node(const onnx::NodeProto& proto, Scope& scope);
  Result<OnnxNode> start_node(const onnx::NodeProto& proto, const Scope& scope);
  Result<void> add_results(const onnx::NodeProto& proto, OnnxNode& node, Scope& scope);
  static std::string own_name(const onnx::NodeProto& proto);
  // No two alike.
  std::string name_for(std::string name);
  Result<void> read_operands(const onnx::NodeProto& proto, OnnxNode& node,
                             const Scope& scope) const;
  void add_conditions(OnnxNode& node, const Scope& scope) const;
  bool can_be_folded(const onnx::NodeProto& proto, const OnnxNode& node) const;
  void fold(OnnxNode& node);

  // Bodies.
  static bool has_body(const onnx::NodeProto& proto);
  Result<void> add_node_with_body(onnx::NodeProto& proto, Scope& scope);
  Result<void> add_if(onnx::NodeProto& proto, Scope& scope);
  Result<void> add_loop(onnx::NodeProto& proto, Scope& scope);
  Result<void> add_scan(onnx::NodeProto& proto, Scope& scope);
  Result<void> add_search(onnx::NodeProto& proto, Scope& scope);
  // `round`: -1 if the body runs once.
  Scope body_scope(const onnx::NodeProto& proto, const Scope& scope, int64_t round) const;
  // Reads a body whose inputs are bound; what it makes, in its order.
  Result<Numbers> run_body(const onnx::NodeProto& proto, onnx::GraphProto& body, Scope& inside,
                           bool again);
  Result<Numbers> operands_of(const onnx::NodeProto& proto, const Scope& scope) const;
  Result<void> bind_results(const onnx::NodeProto& proto, const Numbers& made, Scope& scope);
  // As --dim says, else as is known, else once and told by a warning.
  int64_t rounds_of(const onnx::NodeProto& proto, const Scope& scope, std::optional<int64_t> known);
  // Of a value that is known before the run.
  std::optional<int64_t> number_of(int32_t value) const;
  int32_t add_constant(const std::string& name, OnnxType type,
                       std::optional<std::vector<int64_t>> numbers, const Scope& scope);
  // A node that no file has: what stacks the results of all rounds, or takes one of them out.
  Result<int32_t> add_own_node(const std::string& op_type, const std::string& name, Numbers reads,
                               OnnxType type, const Scope& scope);
  Result<int32_t> stack(const onnx::ValueInfoProto& output, const Numbers& rounds, size_t axis,
                        const Scope& scope);
  Result<Numbers> add_search_step(const onnx::NodeProto& proto, const std::string& name,
                                  Numbers reads, onnx::GraphProto& next, Scope& inside);

  std::string file_;
  const ImportOptions& options_;
  onnx::ModelProto proto_;
  OnnxModel model_;
  std::set<std::string> known_;  // names that --dim can set
  std::unordered_set<std::string> node_names_;
  std::unordered_set<std::string> value_names_;
  // The value of an initializer or Constant, by its place in the file.
  std::unordered_map<const void*, int32_t> made_by_;
  bool repeating_ = false;  // inside a round that is not the first
  int64_t repeated_ = 0;    // what was read in such rounds: nodes, values
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_IMPORT_ONNX_READER_H_
