// A product in index notation as a batch of matrix products: which indices are rows, which are
// columns, which are summed over, and which only number the matrices.

#ifndef TUTTI_KERNELS_CPU_CONTRACTION_H_
#define TUTTI_KERNELS_CPU_CONTRACTION_H_

#include <optional>

#include "tutti/graph/kind/einsum.h"
#include "tutti/kernels/cpu/nest.h"

namespace tutti::cpu {

// Indices that one matrix has as its rows or its columns, as loops over that matrix alone.
class Side {
 public:
  void add(int64_t size, int64_t stride) { nest_.add_loop(size, {stride}); }

  int64_t size() const { return nest_.count(); }
  std::span<const Nest<1>::Loop> loops() const { return nest_.loops(); }
  // How far apart neighbours are, if that is the same everywhere.
  std::optional<int64_t> step() const {
    if (nest_.loops().size() > 1) return std::nullopt;
    return nest_.steps()[0];
  }
  // Between the last two neighbours.
  int64_t last_step() const { return nest_.steps()[0]; }
  // Where each of a range lies.
  std::vector<int64_t> places(Range range) const;

 private:
  Nest<1> nest_;
};

struct MatrixSides {
  Side rows;
  Side columns;
};

// first (rows, inner) times second (inner, columns) is out (rows, columns), for each of the batch.
struct Contraction {
  Nest<3> batch;  // over first, second, out
  MatrixSides first;
  MatrixSides second;
  MatrixSides out;

  int64_t rows() const { return out.rows.size(); }
  int64_t columns() const { return out.columns.size(); }
  int64_t inner() const { return first.columns.size(); }
};

// An index that one operand alone has and that is summed over is repeated in the other operand.
Contraction contraction_of(const Einsum& einsum, const Shape& first, const Shape& second);

// The same product with both operands and the result turned: out^T = second^T first^T. The operands
// change places.
Contraction turned(Contraction product);

}  // namespace tutti::cpu

#endif  // TUTTI_KERNELS_CPU_CONTRACTION_H_
