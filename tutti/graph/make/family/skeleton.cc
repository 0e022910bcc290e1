#include "tutti/graph/make/family/skeleton.h"

#include <cmath>
#include <numeric>

#include "tutti/base/random.h"
#include "tutti/graph/builder.h"
#include "tutti/graph/limits.h"

namespace tutti {

Result<void> check(const Weights& weights) {
  if (!(weights.flops >= 0 && weights.flops <= kMostFlops / 2)) {
    return invalid_input("the flops of an op are a finite number of at least 0");
  }
  if (weights.bytes < 0 || weights.bytes > kMostBytes / 2) {
    return invalid_input("the bytes of a value are from 0 to 2^59");
  }
  if (!(weights.spread >= 0 && weights.spread <= 1)) {
    return invalid_input("the spread of flops and bytes is from 0 to 1");
  }
  if (!(weights.ccr >= 0 && weights.ccr <= 1e9)) {
    return invalid_input("the communication-to-computation ratio is from 0 to 1e9");
  }
  if (!(weights.bandwidth > 0 && weights.bandwidth <= 1e30) ||
      !(weights.rate > 0 && weights.rate <= 1e30)) {
    return invalid_input("bandwidth and rate are positive and at most 1e30");
  }
  return {};
}

int32_t Skeleton::add(std::string op_name, std::string kind, std::span<const int32_t> operands) {
  operands_.insert(operands_.end(), operands.begin(), operands.end());
  ops_.push_back({std::move(op_name), std::move(kind), operands_.size()});
  return size() - 1;
}

std::span<const int32_t> Skeleton::operands(size_t op) const {
  const size_t begin = op == 0 ? 0 : ops_[op - 1].operands_end;
  return {operands_.data() + begin, ops_[op].operands_end - begin};
}

double Skeleton::scale_of(const Weights& weights, const std::vector<double>& flops,
                          const std::vector<double>& bytes) const {
  double moved = 0;
  for (const int32_t operand : operands_) moved += bytes[static_cast<size_t>(operand)];
  if (weights.ccr <= 0 || moved <= 0) return 1;
  const double computed = std::accumulate(flops.begin(), flops.end(), 0.0) /
                          static_cast<double>(ops_.size()) / weights.rate;
  const double communicated = moved / static_cast<double>(operands_.size()) / weights.bandwidth;
  return weights.ccr * computed / communicated;
}

Result<Graph> Skeleton::dress(const Weights& weights) const {
  if (auto checked = check(weights); !checked) return checked.error();
  // Draws come from a stream of their own, so that a family may draw its edges from the same seed.
  Rng rng = Rng(weights.seed).split(0);
  std::vector<double> flops;
  std::vector<double> bytes;
  for (size_t i = 0; i < ops_.size(); ++i) {
    flops.push_back(weights.flops * (1 + weights.spread * (2 * rng.uniform() - 1)));
    bytes.push_back(static_cast<double>(weights.bytes) *
                    (1 + weights.spread * (2 * rng.uniform() - 1)));
  }
  const double scale = scale_of(weights, flops, bytes);
  GraphBuilder builder(name_);
  std::vector<ValueId> values;
  std::vector<ValueId> read;
  for (size_t i = 0; i < ops_.size(); ++i) {
    read.clear();
    for (const int32_t operand : operands(i)) read.push_back(values[static_cast<size_t>(operand)]);
    const double size = bytes[i] * scale;
    if (!(size <= static_cast<double>(kMostBytes))) {
      return invalid_input("that ratio asks for values of more than 2^60 bytes");
    }
    const ValueSpec output{.bytes = std::llround(size)};
    const OpId op = builder.add_op({.name = ops_[i].name,
                                    .kind = ops_[i].kind,
                                    .operands = read,
                                    .outputs = {&output, 1},
                                    .flops = flops[i]});
    values.push_back(builder.outputs(op).front());
  }
  return std::move(builder).build();
}

}  // namespace tutti
