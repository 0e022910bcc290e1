// Sizes of every kind of op that are measured in addition to those of the graphs.

#include "tutti/base/check.h"
#include "tutti/calibrate/experiment.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/kind/kind.h"

namespace tutti {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

class SizesBuilder {
 public:
  void add(std::string_view kind, const std::vector<Shape>& operands, Pairs attributes = {},
           DType first = DType::f32) {
    Attributes::Pairs views(attributes.begin(), attributes.end());
    const Result<OpFacts> facts = infer_op(kind, Attributes(views), operands);
    TUTTI_CHECK(facts.has_value());
    std::vector<ValueId> values;
    for (const Shape& shape : operands) {
      const DType dtype = values.empty() ? first : DType::f32;
      values.push_back(builder_.add_input({.value = value(shape, dtype)}));
    }
    const std::string name = std::string(kind) + std::to_string(builder_.op_count());
    const std::vector<ValueSpec> outputs = {value(facts->output, DType::f32)};
    builder_.add_op({.name = name,
                     .kind = kind,
                     .operands = values,
                     .outputs = outputs,
                     .flops = facts->flops,
                     .attributes = attributes});
  }

  Graph build() && { return std::move(builder_).build().value(); }

 private:
  static ValueSpec value(const Shape& shape, DType dtype) {
    return {.bytes = static_cast<int64_t>(element_count(shape)) * element_bytes(dtype),
            .shape = shape,
            .dtype = dtype};
  }

  GraphBuilder builder_{"usual_sizes"};
};

void add_element_wise(SizesBuilder& sizes, int64_t n) {
  const Shape square = {n, n};
  for (const char* kind : {"add", "subtract", "multiply", "relu_gradient", "max", "sum"}) {
    sizes.add(kind, {square, square});
  }
  sizes.add("sum", {square, square, square, square});
  for (const char* kind : {"add", "multiply"}) {
    sizes.add(kind, {square, {n}}, {{"einsum", "ij,j->ij"}});
  }
  for (const char* kind : {"relu", "silu", "softmax"}) sizes.add(kind, {square});
  sizes.add("scale", {square}, {{"factor", "2"}});
  sizes.add("rms_norm", {square, {n}});
  sizes.add("rope", {square}, {{"axis", "0"}});
  for (const char* kind : {"reduce_max", "reduce_sum"}) {
    sizes.add(kind, {square}, {{"axis", "0"}});
    sizes.add(kind, {square}, {{"axis", "1"}});
  }
}

void add_layouts(SizesBuilder& sizes, int64_t n) {
  const std::string half = std::to_string(n / 2);
  sizes.add("transpose", {{n, n}}, {{"permutation", "1,0"}});
  sizes.add("assemble", {{n / 2, n}, {n / 2, n}},
            {{"shape", wholes_text(Shape{n, n})}, {"offsets", "0,0;" + half + ",0"}});
  sizes.add("slice", {{n, n}}, {{"begin", "0," + half}, {"shape", wholes_text(Shape{n, n / 2})}});
  sizes.add("embedding", {{n}, {n, n}}, {}, DType::i32);
  sizes.add("last_token", {{n, 4, n}});
}

void add_products(SizesBuilder& sizes, int64_t n) {
  sizes.add("matmul", {{n, n}, {n, n}});
  sizes.add("matmul", {{n, n}, {n, n}}, {{"einsum", "ki,kj->ij"}});
  sizes.add("matmul", {{n, n}, {n, n}}, {{"einsum", "ik,jk->ij"}});
  // Flat and deep ones reach other rates than square ones.
  sizes.add("matmul", {{n, 32}, {32, n}});
  sizes.add("matmul", {{32, n}, {n, 32}});
  sizes.add("matmul", {{n, n}, {n, 32}});
  sizes.add("matmul", {{n, n}, {n, n / 2}});
  sizes.add("matmul", {{n, n / 2}, {n / 2, n}});
  sizes.add("potrf", {{n, n}});
  sizes.add("trsm", {{n, n}, {n, n}});
  sizes.add("syrk", {{n, n}, {n, n}});
  sizes.add("gemm", {{n, n}, {n, n}, {n, n}});
}

}  // namespace

Graph usual_sizes() {
  SizesBuilder sizes;
  for (const int64_t n : {16, 64, 256, 512, 1024, 2048}) {
    add_element_wise(sizes, n);
    add_layouts(sizes, n);
  }
  for (const int64_t n : {16, 64, 128, 256, 512, 1024, 2048, 4096}) add_products(sizes, n);
  return std::move(sizes).build();
}

}  // namespace tutti
