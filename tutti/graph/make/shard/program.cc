#include "tutti/graph/make/shard/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/base/check.h"
#include "tutti/graph/kind/attributes.h"

namespace tutti {
namespace {

bool holds(const Indices& indices, IndexId index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

int64_t axis_of(const Indices& indices, IndexId index) {
  TUTTI_CHECK(holds(indices, index));
  return std::find(indices.begin(), indices.end(), index) - indices.begin();
}

Indices without(Indices indices, IndexId index) {
  indices.erase(indices.begin() + axis_of(indices, index));
  return indices;
}

}  // namespace

IndexId Program::index(std::string name, int64_t size) {
  indices_.push_back({std::move(name), size});
  return IndexId{static_cast<int32_t>(indices_.size()) - 1};
}

TensorId Program::add(ProgramTensor tensor) {
  tensors_.push_back(std::move(tensor));
  return TensorId{static_cast<int32_t>(tensors_.size()) - 1};
}

TensorId Program::add(Statement statement, std::string name, Indices indices) {
  statement.output = add({.name = std::move(name), .indices = std::move(indices)});
  statements_.push_back(std::move(statement));
  return statements_.back().output;
}

TensorId Program::input(std::string name, Indices indices, DType dtype) {
  return add(
      {.name = std::move(name), .indices = std::move(indices), .dtype = dtype, .input = true});
}

TensorId Program::weight(std::string name, Indices indices) {
  return add(
      {.name = std::move(name), .indices = std::move(indices), .input = true, .weight = true});
}

TensorId Program::renamed(TensorId tensor, Indices indices) {
  const ProgramTensor& old = (*this)[tensor];
  TUTTI_CHECK(old.indices.size() == indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    TUTTI_CHECK((*this)[indices[i]].size == (*this)[old.indices[i]].size);
  }
  return add({.name = old.name,
              .indices = std::move(indices),
              .dtype = old.dtype,
              .same_as = old.same_as.valid() ? old.same_as : tensor});
}

std::string Program::einsum(TensorId a, TensorId b, const Indices& out) const {
  Indices seen;
  std::string text;
  const auto spell = [&](const Indices& indices) {
    for (const IndexId index : indices) {
      if (!holds(seen, index)) seen.push_back(index);
      text += static_cast<char>('a' + axis_of(seen, index));
    }
  };
  spell((*this)[a].indices);
  text += ',';
  spell((*this)[b].indices);
  text += "->";
  spell(out);
  return text;
}

TensorId Program::matmul(std::string name, TensorId a, TensorId b, Indices indices) {
  Statement statement{.kind = "matmul", .operands = {a, b}};
  statement.attributes.emplace_back("einsum", einsum(a, b, indices));
  for (const TensorId operand : statement.operands) {
    for (const IndexId index : (*this)[operand].indices) {
      if (!holds(indices, index) && !holds(statement.summed, index)) {
        statement.summed.push_back(index);
      }
    }
  }
  return add(std::move(statement), std::move(name), std::move(indices));
}

TensorId Program::elementwise(std::string name, std::string kind,
                              const std::vector<TensorId>& operands) {
  const Indices indices = (*this)[operands[0]].indices;
  Statement statement{.kind = std::move(kind), .operands = operands};
  if (operands.size() == 2 && (*this)[operands[1]].indices != indices) {
    statement.attributes.emplace_back("einsum", einsum(operands[0], operands[1], indices));
  }
  return add(std::move(statement), std::move(name), indices);
}

TensorId Program::scale(std::string name, TensorId x, double factor) {
  Statement statement{.kind = "scale", .operands = {x}};
  statement.attributes.emplace_back("factor", fmt::format("{}", factor));
  return add(std::move(statement), std::move(name), (*this)[x].indices);
}

TensorId Program::softmax(std::string name, TensorId x, IndexId over, IndexId rows) {
  const Indices indices = (*this)[x].indices;
  Statement statement{.kind = "softmax", .operands = {x}, .whole = {over}};
  statement.attributes.emplace_back("axis", std::to_string(axis_of(indices, over)));
  if (rows.valid()) {
    TUTTI_CHECK(indices.size() >= 2 && over == indices.back() &&
                rows == indices[indices.size() - 2]);
    statement.offset_of = rows;
    statement.offset_key = "first_row";
  }
  return add(std::move(statement), std::move(name), indices);
}

TensorId Program::rms_norm(std::string name, TensorId x, TensorId weight, double epsilon) {
  const Indices indices = (*this)[x].indices;
  Statement statement{.kind = "rms_norm", .operands = {x, weight}, .whole = {indices.back()}};
  statement.attributes.emplace_back("epsilon", fmt::format("{}", epsilon));
  return add(std::move(statement), std::move(name), indices);
}

TensorId Program::rope(std::string name, TensorId x, IndexId position, double base) {
  const Indices indices = (*this)[x].indices;
  Statement statement{.kind = "rope", .operands = {x}, .whole = {indices.back()}};
  statement.attributes.emplace_back("axis", std::to_string(axis_of(indices, position)));
  statement.attributes.emplace_back("base", fmt::format("{}", base));
  statement.offset_of = position;
  statement.offset_key = "first_position";
  return add(std::move(statement), std::move(name), indices);
}

TensorId Program::reduce(std::string name, std::string kind, TensorId x, IndexId over) {
  const Indices indices = (*this)[x].indices;
  Statement statement{.kind = std::move(kind), .operands = {x}, .summed = {over}};
  if (statement.kind == "reduce_max") statement.combine = "max";
  statement.attributes.emplace_back("axis", std::to_string(axis_of(indices, over)));
  return add(std::move(statement), std::move(name), without(indices, over));
}

TensorId Program::transpose(std::string name, TensorId x, Indices indices) {
  std::vector<int64_t> permutation;
  for (const IndexId index : indices) permutation.push_back(axis_of((*this)[x].indices, index));
  Statement statement{.kind = "transpose", .operands = {x}};
  statement.attributes.emplace_back("permutation", wholes_text(permutation));
  return add(std::move(statement), std::move(name), std::move(indices));
}

TensorId Program::embedding(std::string name, TensorId ids, TensorId table) {
  const Indices rows = (*this)[table].indices;
  Indices indices = (*this)[ids].indices;
  indices.push_back(rows[1]);
  Statement statement{.kind = "embedding", .operands = {ids, table}, .summed = {rows[0]}};
  statement.offset_of = rows[0];
  statement.offset_key = "first_row";
  return add(std::move(statement), std::move(name), std::move(indices));
}

TensorId Program::last_token(std::string name, TensorId x) {
  const Indices indices = (*this)[x].indices;
  TUTTI_CHECK(indices.size() == 3);
  return add({.kind = "last_token", .operands = {x}, .last = indices[1]}, std::move(name),
             {indices[0], indices[2]});
}

}  // namespace tutti
