// A Graph is the work to be done: operations (ops), and the values that flow between them. It says
// nothing about devices or time beyond what a file gave as measured; see tutti/costs.
//
// An op reads ordered operands and makes one or more values. A value without a producer is a graph
// input. One operand of one op is an edge, so a value that is read twice has two edges.
//
// A Graph is immutable once built, so any number of threads may read it. It is stored as columns
// and compressed rows; columns that no op uses take no memory. See docs/formats/graph.md.

#ifndef TUTTI_GRAPH_GRAPH_H_
#define TUTTI_GRAPH_GRAPH_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/base/id.h"
#include "tutti/base/result.h"
#include "tutti/base/time.h"
#include "tutti/graph/command.h"

namespace tutti {

enum class DType : uint8_t { unknown, f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };
const char* to_text(DType dtype);
std::optional<DType> parse_dtype(std::string_view text);
// Bytes of one element; 0 for unknown.
int element_bytes(DType dtype);

// Where a graph input is before the run starts.
struct Residence {
  enum class Where : uint8_t { everywhere, host, device };
  Where where = Where::everywhere;
  std::string device{};  // for Where::device, its name in the machine file
  friend bool operator==(const Residence&, const Residence&) = default;
};

// What a caller says of one value; `shape` and `dtype` may be left unsaid.
struct ValueSpec {
  std::string name{};  // empty: named after its op
  int64_t bytes = 0;
  std::vector<int64_t> shape{};
  DType dtype = DType::unknown;
};

struct InputSpec {
  ValueSpec value;
  Residence residence{};
  bool weight = false;  // resident: occupies memory for the whole run wherever it is used
};

// A time for ops on one kind of device; an empty kind stands for every kind not named.
struct GivenTime {
  std::string device_kind;
  Duration time;
};
// A transfer time from one kind of device to another; empty kinds stand for all.
struct GivenTransfer {
  std::string from_kind;
  std::string to_kind;
  Duration time;
};

struct OpSpec {
  std::string_view name;
  std::string_view kind;
  std::span<const ValueId> operands{};  // an invalid id is filled in later by GraphBuilder::connect
  std::span<const ValueSpec> outputs{};
  double flops = 0;
  int64_t transient_bytes = 0;
  std::span<const GivenTime> run_times{};
  // (key, value) pairs, kept in order.
  std::span<const std::pair<std::string, std::string>> attributes{};
  const Command* command = nullptr;
};

class Graph {
 public:
  const std::string& name() const { return name_; }
  // Digest of everything a plan depends on.
  uint64_t fingerprint() const { return fingerprint_; }

  int32_t size() const { return static_cast<int32_t>(op_kind_.size()); }
  int32_t value_count() const { return static_cast<int32_t>(producer_.size()); }
  int32_t edge_count() const { return static_cast<int32_t>(operands_.size()); }
  IdRange<OpId> ops() const { return {0, size()}; }
  IdRange<ValueId> values() const { return {0, value_count()}; }

  std::string_view op_name(OpId op) const { return slice(op_names_, op_name_begin_, op.index); }
  OpKindId op_kind(OpId op) const { return op_kind_[op.index]; }
  std::string_view op_kind_name(OpId op) const { return op_kinds_[op_kind_[op.index].index]; }
  const std::vector<std::string>& op_kinds() const { return op_kinds_; }
  double flops(OpId op) const { return flops_.empty() ? 0.0 : flops_[op.index]; }
  int64_t transient_bytes(OpId op) const {
    return transient_bytes_.empty() ? 0 : transient_bytes_[op.index];
  }
  std::vector<std::pair<std::string_view, std::string_view>> attributes(OpId op) const;

  // The program that the op stands for; null: none is named.
  const Command* command(OpId op) const;
  int32_t command_count() const { return static_cast<int32_t>(commands_.size()); }
  // Digest of all commands, which the graph's fingerprint leaves out: plans do not depend on them.
  uint64_t commands_fingerprint() const;

  // In the order the op reads them; edges(op) are the same operands as ids.
  std::span<const ValueId> operands(OpId op) const {
    return {operands_.data() + operand_begin_[op.index],
            static_cast<size_t>(operand_begin_[op.index + 1] - operand_begin_[op.index])};
  }
  IdRange<EdgeId> edges(OpId op) const {
    return {operand_begin_[op.index], operand_begin_[op.index + 1]};
  }
  IdRange<ValueId> outputs(OpId op) const {
    return {first_output_[op.index], first_output_[op.index] + output_count(op)};
  }
  ValueId edge_value(EdgeId edge) const { return operands_[edge.index]; }
  OpId edge_to(EdgeId edge) const { return edge_to_[edge.index]; }
  // The op that makes the value of that edge; invalid for a graph input.
  OpId edge_from(EdgeId edge) const { return producer_[operands_[edge.index].index]; }

  // How many of the op's operands are made by ops; an op that is read twice counts twice.
  int32_t made_operands(OpId op) const {
    int32_t made = 0;
    for (const EdgeId edge : edges(op)) made += edge_from(edge).valid();
    return made;
  }

  // The edges that read a value, by ascending edge id.
  std::span<const EdgeId> consumers(ValueId value) const {
    return readers_of(value.index, value.index + 1);
  }
  // The edges that read what the op makes: the consumers of its outputs, one after the other.
  std::span<const EdgeId> out_edges(OpId op) const {
    return readers_of(first_output_[op.index], first_output_[op.index] + output_count(op));
  }
  OpId producer(ValueId value) const { return producer_[value.index]; }  // invalid: graph input
  int64_t bytes(ValueId value) const { return bytes_[value.index]; }
  DType dtype(ValueId value) const {
    return dtype_.empty() ? DType::unknown : static_cast<DType>(dtype_[value.index]);
  }
  std::span<const int64_t> shape(ValueId value) const;
  // Its own name, or its op's with ":k" behind it for the k-th of several.
  std::string value_name(ValueId value) const;
  // Both require a graph input.
  const Residence& residence(ValueId value) const;
  bool is_weight(ValueId value) const;

  // Every op, each after all of its inputs. The order is the same in every run, and is the order
  // of ids when that is one.
  std::span<const OpId> topological_order() const { return topological_order_; }

  // The device kinds that given times name, in order of appearance.
  const std::vector<std::string>& device_kinds() const { return device_kinds_; }
  bool has_given_run_times() const { return !run_times_.empty(); }
  bool has_given_transfers() const { return !transfers_.empty(); }
  // The time given for a kind of device, else the one given for all; none if neither was.
  std::optional<Duration> given_run_time(OpId op, std::string_view device_kind) const;
  std::optional<Duration> given_transfer(EdgeId edge, std::string_view from_kind,
                                         std::string_view to_kind) const;

  // Columns of given times, for callers that look up many: -1 where none was given. A pair of kind
  // columns of -1 stands for "all kinds". nullptr where the whole column is absent.
  const std::vector<Duration>* run_time_column(int kind) const;
  const std::vector<Duration>* transfer_column(int from_kind, int to_kind) const;
  int device_kind_index(std::string_view device_kind) const;  // -1 if no given time names it

 private:
  friend class GraphBuilder;

  struct InputInfo {
    ValueId value;
    Residence residence;
    bool weight;
  };
  struct RunTimeColumn {
    int kind;  // -1: every kind
    std::vector<Duration> times;
  };
  struct TransferColumn {
    int from_kind;
    int to_kind;
    std::vector<Duration> times;
  };

  static std::string_view slice(const std::string& pool, const std::vector<int64_t>& begin,
                                int32_t index) {
    return std::string_view(pool).substr(static_cast<size_t>(begin[index]),
                                         static_cast<size_t>(begin[index + 1] - begin[index]));
  }
  // Of consecutive values.
  std::span<const EdgeId> readers_of(int32_t begin, int32_t end) const {
    return {consumers_.data() + consumer_begin_[begin],
            static_cast<size_t>(consumer_begin_[end] - consumer_begin_[begin])};
  }
  int32_t output_count(OpId op) const {
    return output_count_.empty() ? 1 : output_count_[op.index];
  }
  const InputInfo& input_info(ValueId value) const;

  std::string name_;
  uint64_t fingerprint_ = 0;

  // By op.
  std::string op_names_;
  std::vector<int64_t> op_name_begin_;
  std::vector<OpKindId> op_kind_;
  std::vector<int32_t> operand_begin_;
  std::vector<int32_t> first_output_;
  std::vector<int32_t> output_count_;  // empty: every op has one output
  std::vector<double> flops_;
  std::vector<int64_t> transient_bytes_;
  std::vector<OpId> topological_order_;
  std::vector<int32_t> attribute_begin_;
  std::vector<std::pair<std::string, std::string>> attributes_;
  std::vector<RunTimeColumn> run_times_;
  std::vector<std::pair<OpId, Command>> commands_;  // by ascending op
  // By edge.
  std::vector<ValueId> operands_;
  std::vector<OpId> edge_to_;
  std::vector<TransferColumn> transfers_;
  // By value.
  std::vector<OpId> producer_;
  std::vector<int64_t> bytes_;
  std::vector<uint8_t> dtype_;
  std::vector<int32_t> consumer_begin_;
  std::vector<EdgeId> consumers_;
  std::vector<int64_t> shape_begin_;
  std::vector<int64_t> shape_dims_;
  std::vector<std::pair<ValueId, std::string>> value_names_;  // only those not named by their op
  std::vector<InputInfo> inputs_;                             // by ascending value
  // Small tables.
  std::vector<std::string> op_kinds_;
  std::vector<std::string> device_kinds_;
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_GRAPH_H_
