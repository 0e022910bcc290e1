// Every product in index notation becomes calls of OpenBLAS. Operands whose strides it understands
// are read where they lie, turned or not; others are packed, a tile at a time.

#include <algorithm>
#include <array>

#include "tutti/kernels/cpu/blas.h"
#include "tutti/kernels/cpu/contraction.h"
#include "tutti/kernels/cpu/cpu.h"
#include "tutti/kernels/cpu/floats.h"
#include "tutti/kernels/cpu/scratch.h"

namespace tutti::cpu {
namespace {

constexpr int64_t kPackedTile = 1024;  // on a side: a packed tile has 4 MiB at most

// One operand's or the result's matrix, for one index of the batch.
template <class Element>
struct Sheet {
  Element* data;
  const MatrixSides* sides;

  // The tile where it lies, if OpenBLAS can use it there.
  std::optional<Matrix> in_place(Range rows, Range columns) const {
    const auto row_step = sides->rows.step();
    const auto column_step = sides->columns.step();
    if (!row_step || !column_step) return std::nullopt;
    return as_matrix(data + rows.begin * *row_step + columns.begin * *column_step, rows.size(),
                     columns.size(), *row_step, *column_step);
  }
};

// In the operand's own order, so that memory is read in lines.
template <class Purpose>
Matrix packed(const Sheet<const float>& sheet, Range rows, Range columns) {
  const bool turn = sheet.sides->rows.last_step() == 1;
  const auto outer = turn ? sheet.sides->columns.places(columns) : sheet.sides->rows.places(rows);
  const auto inner = turn ? sheet.sides->rows.places(rows) : sheet.sides->columns.places(columns);
  float* next = scratch<Purpose>(rows.size() * columns.size()).data();
  const Matrix matrix{next, static_cast<int64_t>(inner.size()), turn};
  for (const int64_t far : outer) {
    for (const int64_t near : inner) *next++ = sheet.data[far + near];
  }
  return matrix;
}

void unpack(const float* tile, const Sheet<float>& out, Range rows, Range columns) {
  const auto inner = out.sides->columns.places(columns);
  for (const int64_t far : out.sides->rows.places(rows)) {
    for (const int64_t near : inner) out.data[far + near] = *tile++;
  }
}

// One matrix product, tile by tile where something must be packed.
class TiledProduct {
 public:
  TiledProduct(const Blas& blas, const Contraction& product, const std::array<int64_t, 3>& offsets,
               const float* first, const float* second, float* out)
      : blas_(blas),
        first_{first + offsets[0], &product.first},
        second_{second + offsets[1], &product.second},
        out_{out + offsets[2], &product.out} {}

  void compute(Range rows, Range columns, int64_t inner) const {
    const Range all{0, inner};
    const bool pack_first = !first_.in_place(rows, all);
    const bool pack_second = !second_.in_place(all, columns);
    const bool pack_out = !out_in_place(rows, columns);
    const auto tile = [](bool small) { return small ? kPackedTile : Blas::kLargest; };
    const int64_t row_tile = tile(pack_first || pack_out);
    const int64_t column_tile = tile(pack_second || pack_out);
    const int64_t inner_tile = tile(pack_first || pack_second);
    for (int64_t i = rows.begin; i < rows.end; i += row_tile) {
      for (int64_t j = columns.begin; j < columns.end; j += column_tile) {
        compute_tile({i, std::min(i + row_tile, rows.end)},
                     {j, std::min(j + column_tile, columns.end)}, inner, inner_tile);
      }
    }
  }

 private:
  std::optional<Matrix> out_in_place(Range rows, Range columns) const {
    const auto found = out_.in_place(rows, columns);
    return found && !found->turned ? found : std::nullopt;
  }

  void compute_tile(Range rows, Range columns, int64_t inner, int64_t inner_tile) const {
    const std::optional<Matrix> place = out_in_place(rows, columns);
    float* out = place ? out_.data + (place->data - out_.data)
                       : scratch<struct OutTile>(rows.size() * columns.size()).data();
    const int64_t step = place ? place->step : columns.size();
    for (int64_t k = 0; k < inner; k += inner_tile) {
      const Range depth{k, std::min(k + inner_tile, inner)};
      std::optional<Matrix> a = first_.in_place(rows, depth);
      if (!a) a = packed<struct FirstTile>(first_, rows, depth);
      std::optional<Matrix> b = second_.in_place(depth, columns);
      if (!b) b = packed<struct SecondTile>(second_, depth, columns);
      blas_.multiply({rows.size(), columns.size(), depth.size()}, 1, *a, *b, k == 0 ? 0 : 1, out,
                     step);
    }
    if (!place) unpack(out, out_, rows, columns);
  }

  const Blas& blas_;
  Sheet<const float> first_;
  Sheet<const float> second_;
  Sheet<float> out_;
};

// Shares begin at whole matrices if those go round, and otherwise at a few rows or columns.
int64_t grain_of(int64_t batch, int64_t lines, Part part) {
  constexpr int64_t kFew = 8;
  return batch % part.count == 0 || batch >= kFew * part.count ? lines : kFew;
}

}  // namespace

// Parts take rows or columns of the result, whichever there are more of.
Done matmul(const Attributes& attributes, Operands operands, const Block& output, Part part) {
  const Shape shapes[] = {to_shape(operands[0].shape), to_shape(operands[1].shape)};
  const Einsum einsum =
      *parse_einsum(attributes.text("einsum").value_or("ik,kj->ij"), shapes[0], shapes[1]);
  Contraction product = contraction_of(einsum, shapes[0], shapes[1]);
  std::array<const float*, 2> from = {floats(operands[0]), floats(operands[1])};
  if (product.out.rows.last_step() == 1 && product.columns() > 1) {  // the result is in columns
    product = turned(std::move(product));
    std::swap(from[0], from[1]);
  }
  const bool by_rows = product.rows() >= product.columns();
  const int64_t lines = by_rows ? product.rows() : product.columns();
  const int64_t batch = product.batch.count();
  if (batch * product.rows() * product.columns() == 0) return {};
  const Range range = share(batch * lines, part, grain_of(batch, lines, part));
  if (product.inner() == 0) {
    if (part.index == 0) std::fill_n(floats(output), product_of(output.shape), 0.0F);
    return {};
  }
  const Result<const Blas*> blas = Blas::open();
  if (!blas) return blas.error();
  for (int64_t begin = range.begin; begin < range.end;) {
    const int64_t index = begin / lines;
    const Range some{begin - index * lines, std::min(range.end - index * lines, lines)};
    product.batch.for_each_run({index, index + 1}, [&](const auto& offsets, int64_t) {
      TiledProduct(**blas, product, offsets, from[0], from[1], floats(output))
          .compute(by_rows ? some : Range{0, product.rows()},
                   by_rows ? Range{0, product.columns()} : some, product.inner());
    });
    begin += some.size();
  }
  return {};
}

}  // namespace tutti::cpu
