// A Program says in tensors what a graph will say in ops: named tensors over named indices, and
// statements that make one tensor each. It knows nothing of blocks and devices: shard.h splits it.
//
// An index stands for one range of positions wherever it occurs, so that a product needs no more
// than its operands and the indices of its result: those that are left out are summed over.

#ifndef TUTTI_GRAPH_MAKE_SHARD_PROGRAM_H_
#define TUTTI_GRAPH_MAKE_SHARD_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tutti/base/id.h"
#include "tutti/graph/graph.h"

namespace tutti {

using IndexId = Id<struct IndexTag>;
using TensorId = Id<struct TensorTag>;
using Indices = std::vector<IndexId>;

struct ProgramIndex {
  std::string name;
  int64_t size;
};

struct ProgramTensor {
  std::string name;  // also that of the statement that makes it
  Indices indices;
  DType dtype = DType::unknown;  // unknown: the one the sharder is told
  bool input = false;
  bool weight = false;
  TensorId same_as{};  // valid: another name for the indices of that tensor
};

struct Statement {
  TensorId output{};
  std::string kind;  // of tutti/graph/kind/kind.h
  std::vector<TensorId> operands;
  std::vector<std::pair<std::string, std::string>> attributes{};
  Indices summed{};  // split ones give partial results, which ops of kind `combine` join
  std::string combine = "sum";
  Indices whole{};      // never split here
  IndexId last{};       // only its last block is read
  IndexId offset_of{};  // each op is told, as `offset_key`, where its block begins along this index
  std::string offset_key{};
};

// Names of tensors must differ. Statements must be put in order: operands first. Arguments that do
// not fit are errors of ours and stop the program.
class Program {
 public:
  explicit Program(std::string name) : name_(std::move(name)) {}

  IndexId index(std::string name, int64_t size);
  TensorId input(std::string name, Indices indices, DType dtype = DType::unknown);
  TensorId weight(std::string name, Indices indices);
  // The same tensor under other indices of the same sizes: keys are queries seen by later tokens.
  TensorId renamed(TensorId tensor, Indices indices);

  // Any product of two tensors: see tutti/graph/kind/einsum.h.
  TensorId matmul(std::string name, TensorId a, TensorId b, Indices indices);
  // Kinds that go element by element. The second operand may lack indices of the first.
  TensorId elementwise(std::string name, std::string kind, const std::vector<TensorId>& operands);
  TensorId scale(std::string name, TensorId x, double factor);
  // Along `over`. With `rows`, position r of that index sees positions 0 to r of `over`, which must
  // be the last index of x, and `rows` the one before.
  TensorId softmax(std::string name, TensorId x, IndexId over, IndexId rows = {});
  // Both along the last index of x.
  TensorId rms_norm(std::string name, TensorId x, TensorId weight, double epsilon);
  TensorId rope(std::string name, TensorId x, IndexId position, double base);
  // "reduce_sum" or "reduce_max".
  TensorId reduce(std::string name, std::string kind, TensorId x, IndexId over);
  TensorId transpose(std::string name, TensorId x, Indices indices);
  // Rows of the table (row, element) by ids.
  TensorId embedding(std::string name, TensorId ids, TensorId table);
  // Of x (sequence, position, element).
  TensorId last_token(std::string name, TensorId x);

  const std::string& name() const { return name_; }
  const std::vector<ProgramIndex>& indices() const { return indices_; }
  const std::vector<ProgramTensor>& tensors() const { return tensors_; }
  const std::vector<Statement>& statements() const { return statements_; }
  const ProgramIndex& operator[](IndexId index) const { return indices_[position(index.index)]; }
  const ProgramTensor& operator[](TensorId tensor) const {
    return tensors_[position(tensor.index)];
  }

 private:
  static size_t position(int32_t index) { return static_cast<size_t>(index); }
  TensorId add(ProgramTensor tensor);
  TensorId add(Statement statement, std::string name, Indices indices);
  // "ik,kj->ij" for two tensors and the result.
  std::string einsum(TensorId a, TensorId b, const Indices& out) const;

  std::string name_;
  std::vector<ProgramIndex> indices_;
  std::vector<ProgramTensor> tensors_;
  std::vector<Statement> statements_;
};

}  // namespace tutti

#endif  // TUTTI_GRAPH_MAKE_SHARD_PROGRAM_H_
