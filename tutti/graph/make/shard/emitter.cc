#include "tutti/graph/make/shard/emitter.h"

#include <fmt/format.h>

#include "tutti/graph/groups.h"
#include "tutti/graph/limits.h"

namespace tutti {

Result<ValueSpec> Emitter::value_of(std::string name, const Shape& shape, DType dtype) const {
  if (dtype == DType::unknown) dtype = dtype_;
  const double bytes = element_count(shape) * element_bytes(dtype);
  if (bytes > static_cast<double>(kMostBytes)) {
    return invalid_input(
        fmt::format("'{}' would have {:.4g} bytes; a value has at most 2^60", name, bytes));
  }
  return ValueSpec{std::move(name), static_cast<int64_t>(bytes), shape, dtype};
}

Result<ValueId> Emitter::add_input(std::string name, const Shape& shape, bool weight, DType dtype) {
  if (auto fits = check_made(static_cast<double>(shapes_.size()) + 1, most_made_); !fits)
    return fits.error();
  Result<ValueSpec> value = value_of(std::move(name), shape, dtype);
  if (!value) return value.error();
  shapes_.push_back(shape);
  return builder_.add_input({.value = std::move(*value), .weight = weight});
}

Result<ValueId> Emitter::add_op(EmittedOp op) {
  const double before = static_cast<double>(builder_.op_count()) + builder_.edge_count();
  if (auto fits = check_made(before + 1 + static_cast<double>(op.operands.size()), most_made_);
      !fits) {
    return fits.error();
  }
  std::vector<Shape> operands;
  for (const ValueId operand : op.operands) {
    operands.push_back(shapes_[static_cast<size_t>(operand.index)]);
  }
  Attributes::Pairs views(op.attributes.begin(), op.attributes.end());
  const Result<OpFacts> facts = infer_op(op.kind, Attributes(std::move(views)), operands);
  if (!facts) {
    return invalid_input(fmt::format("op '{}': {}", op.name, facts.error().message));
  }
  Result<ValueSpec> output = value_of(op.name, facts->output, DType::unknown);
  if (!output) return output.error();
  output->name.clear();  // as its op
  op.attributes.emplace_back(kGroupAttribute, op.group);
  op.attributes.emplace_back(kShardAttribute, std::to_string(op.shard));
  const OpId id = builder_.add_op({.name = op.name,
                                   .kind = op.kind,
                                   .operands = op.operands,
                                   .outputs = {&*output, 1},
                                   .flops = facts->flops,
                                   .attributes = op.attributes});
  shapes_.push_back(facts->output);
  return builder_.outputs(id).front();
}

}  // namespace tutti
