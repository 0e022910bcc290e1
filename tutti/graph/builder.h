// GraphBuilder collects ops and values and makes a Graph of them. Ops may come in any order, and
// an operand may be connected later than its op is added.
//
// One builder makes one graph and is used by one thread.

#ifndef TUTTI_GRAPH_BUILDER_H_
#define TUTTI_GRAPH_BUILDER_H_

#include <string>
#include <unordered_map>
#include <utility>

#include "tutti/base/fingerprint.h"
#include "tutti/graph/graph.h"

namespace tutti {

class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name);

  // For readers that meet the name behind the ops.
  void set_name(std::string name) { graph_.name_ = std::move(name); }

  // An input without a name is called "input0", "input1", ... by its place among the inputs.
  ValueId add_input(const InputSpec& input);
  // Names must differ between ops; readers of files check that (see NameTable).
  OpId add_op(const OpSpec& op);

  // Connects an operand that was added with an invalid id.
  void connect(EdgeId edge, ValueId value) { graph_.operands_[edge.index] = value; }

  // At most 16 different device kinds; more fail in build().
  void give_transfer(EdgeId edge, const GivenTransfer& given);

  int32_t op_count() const { return graph_.size(); }
  int32_t value_count() const { return graph_.value_count(); }
  int32_t edge_count() const { return graph_.edge_count(); }
  // True once an op or input did not fit; it was left out, and build() will say so. Readers of
  // files check this after each op and stop.
  bool too_large() const { return too_large_; }
  // The outputs of an op added before.
  IdRange<ValueId> outputs(OpId op) const { return graph_.outputs(op); }

  // Fails if an operand was never connected, if the ops form a cycle (naming one op on it), or if
  // there are more than 2^31 - 1 ops, values or edges.
  Result<Graph> build() &&;

 private:
  // Whether one more op with that many operands and outputs fits; notes it if not.
  bool fits(size_t new_operands, size_t new_values);
  ValueId add_value(const ValueSpec& value, OpId producer);
  OpKindId kind_of(std::string_view name);
  int device_kind_of(std::string_view name);
  void give_run_time(OpId op, const GivenTime& given);
  void add_consumers();
  Result<void> order_ops();
  void compute_fingerprint();
  void add_given_times(Fingerprint& print) const;

  Graph graph_;
  std::unordered_map<std::string, int32_t> op_kind_index_;
  std::string last_kind_;  // most files name the same kind many times in a row
  OpKindId last_kind_id_;
  bool too_large_ = false;
  bool too_many_device_kinds_ = false;
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_BUILDER_H_
