// For tests: runs sharded programs on whole tensors, so that two ways to split the same program can
// be compared.

#ifndef TUTTI_KERNELS_TESTING_H_
#define TUTTI_KERNELS_TESTING_H_

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "tutti/base/random.h"
#include "tutti/graph/make/llama.h"
#include "tutti/graph/make/shard/blocks.h"
#include "tutti/graph/make/shard/shard.h"
#include "tutti/kernels/evaluate.h"
#include "tutti/kernels/kernel.h"

namespace tutti {

// Statements that no workload uses: transpositions, reductions, tables split by rows.
struct OtherStatements {
  Program program{"other"};
  IndexId i = program.index("i", 8);
  IndexId j = program.index("j", 12);
  IndexId v = program.index("v", 12);

  OtherStatements() {
    const TensorId rows =
        program.embedding("rows", program.input("tokens", {i}), program.weight("table", {v, j}));
    const TensorId turned = program.transpose("turned", rows, {j, i});
    program.reduce("largest", "reduce_max", turned, j);
    program.reduce("total", "reduce_sum", turned, i);
    program.softmax("shares", turned, j);
  }
};

// A Llama whose graph the reference evaluates in no time.
inline LlamaSpec tiny_llama(bool ends) {
  return {.batch = 4,
          .sequence = 4,
          .hidden = 16,
          .heads = 4,
          .feed_forward = 12,
          .vocabulary = 12,
          .ends = ends};
}

using NamedTensors = std::map<std::string, Tensor>;

// Numbers from -1 to 1 that depend on the name alone; whole numbers below `ids` for "tokens".
inline Tensor fill(const std::string& name, const Shape& shape, uint64_t ids) {
  Rng rng(1);
  for (const char c : name) rng = rng.split(static_cast<uint64_t>(c));
  Tensor tensor = Tensor::zeros(shape);
  for (double& x : tensor.data) {
    x = name == "tokens" ? static_cast<double>(rng.below(ids)) : 2 * rng.uniform() - 1;
  }
  return tensor;
}

// A tensor for each input of the program.
inline NamedTensors inputs_of(const Sharded& sharded, uint64_t ids = 1) {
  NamedTensors inputs;
  for (const TensorBlocks& blocks : sharded.tensors) {
    if (blocks.input) inputs[blocks.name] = fill(blocks.name, blocks.shape, ids);
  }
  return inputs;
}

// For each value of the graph that is an input, its block of the program's input.
inline std::vector<Tensor> blocks_of(const Sharded& sharded, const NamedTensors& inputs) {
  std::vector<Tensor> values(static_cast<size_t>(sharded.graph.value_count()));
  for (const TensorBlocks& blocks : sharded.tensors) {
    if (!blocks.input) continue;
    const auto places = all_blocks(blocks.counts);
    for (size_t i = 0; i < blocks.values.size(); ++i) {
      const Region region = block_region(blocks.shape, blocks.counts, places[i]);
      const std::string begin = wholes_text(region.begin);
      const std::string shape = wholes_text(region.shape);
      const Tensor* whole = &inputs.at(blocks.name);
      values[static_cast<size_t>(blocks.values[i].index)] =
          *run_reference("slice", Attributes({{"begin", begin}, {"shape", shape}}), {&whole, 1});
    }
  }
  return values;
}

// Evaluates the graph and gives every tensor of the program as a whole.
inline NamedTensors run_sharded(const Sharded& sharded, const NamedTensors& inputs) {
  const Result<std::vector<Tensor>> done = evaluate(sharded.graph, blocks_of(sharded, inputs));
  if (!done) {
    ADD_FAILURE() << done.error().message;
    return {};
  }
  NamedTensors found;
  for (const TensorBlocks& blocks : sharded.tensors) {
    std::vector<const Tensor*> parts;
    std::string offsets;
    const auto places = all_blocks(blocks.counts);
    for (size_t i = 0; i < blocks.values.size(); ++i) {
      parts.push_back(&(*done)[static_cast<size_t>(blocks.values[i].index)]);
      const Region region = block_region(blocks.shape, blocks.counts, places[i]);
      if (i > 0) offsets += ';';
      offsets += wholes_text(region.begin);
    }
    const std::string shape = wholes_text(blocks.shape);
    found[blocks.name] =
        *run_reference("assemble", Attributes({{"shape", shape}, {"offsets", offsets}}), parts);
  }
  return found;
}

inline void expect_equal(const NamedTensors& got, const NamedTensors& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (const auto& [name, tensor] : wanted) {
    const Tensor& other = got.at(name);
    ASSERT_EQ(other.shape, tensor.shape) << name;
    double largest = 1e-300;
    for (const double x : tensor.data) largest = std::max(largest, std::abs(x));
    for (size_t i = 0; i < tensor.data.size(); ++i) {
      ASSERT_NEAR(other.data[i], tensor.data[i], 1e-9 * largest) << name << " at " << i;
    }
  }
}

}  // namespace tutti

#endif  // TUTTI_KERNELS_TESTING_H_
