#include "tutti/graph/make/ffnn.h"

#include <fmt/format.h>

#include <algorithm>

#include "tutti/graph/make/shard/expert.h"

namespace tutti {
namespace {

// The program, and how its statements are split.
class Ffnn {
 public:
  explicit Ffnn(const FfnnSpec& spec)
      : spec_(spec),
        program_(spec.train ? "ffnn_train" : "ffnn"),
        batch_(program_.index("b", spec.batch)) {
    for (size_t layer = 0; layer < spec.sizes.size(); ++layer) {
      layers_.push_back(program_.index(fmt::format("n{}", layer), spec.sizes[layer]));
    }
  }

  Result<Sharded> make();

 private:
  struct Layer {
    TensorId input;   // of x W
    TensorId weight;  // W
    TensorId bias;
    TensorId sum;  // x W + b, before the ReLU
  };

  TensorId forward(size_t layer, TensorId input);
  void backward(TensorId output);
  // W - rate * gradient, and the same for the bias.
  void update(size_t layer, TensorId gradient);
  void descend(const std::string& name, TensorId old, TensorId gradient);

  void set(const std::string& statement, IndexId index, int64_t count) {
    sharding_.statement_splits[{statement, index}] = count;
  }
  // A product whose rows, columns and summed index are these.
  void split_product(const std::string& name, IndexId rows, IndexId columns, IndexId summed);
  // By data: how many devices add up the gradients of that layer.
  int64_t column_shards(IndexId layer) const {
    return std::min(program_[layer].size, spec_.data_shards);
  }
  Expert expert() const;

  const FfnnSpec& spec_;
  Program program_;
  Sharding sharding_;
  IndexId batch_;
  Indices layers_;
  std::vector<Layer> made_;
};

void Ffnn::split_product(const std::string& name, IndexId rows, IndexId columns, IndexId summed) {
  if (!spec_.split) return;
  set(name, rows, spec_.split->rows);
  set(name, columns, spec_.split->columns);
  set(name, summed, spec_.split->summed);
}

TensorId Ffnn::forward(size_t layer, TensorId input) {
  const IndexId from = layers_[layer - 1];
  const IndexId to = layers_[layer];
  const TensorId weight = program_.weight(fmt::format("W{}", layer), {from, to});
  const TensorId bias = program_.weight(fmt::format("bias{}", layer), {to});
  const std::string name = fmt::format("product{}", layer);
  split_product(name, batch_, to, from);
  const TensorId product = program_.matmul(name, input, weight, {batch_, to});
  const TensorId sum = program_.elementwise(fmt::format("sum{}", layer), "add", {product, bias});
  made_.push_back({input, weight, bias, sum});
  const bool is_last = layer + 1 == layers_.size();
  return is_last ? sum : program_.elementwise(fmt::format("relu{}", layer), "relu", {sum});
}

void Ffnn::backward(TensorId output) {
  const TensorId target = program_.input("target", program_[output].indices);
  const TensorId error = program_.elementwise("error", "subtract", {output, target});
  TensorId gradient = program_.scale("sum_gradient" + std::to_string(made_.size()), error,
                                     1.0 / static_cast<double>(spec_.batch));
  for (size_t layer = made_.size(); layer > 0; --layer) {
    update(layer, gradient);
    if (layer == 1) return;
    const IndexId from = layers_[layer - 1];
    const std::string name = fmt::format("relu_gradient{}", layer - 1);
    split_product(name, batch_, from, layers_[layer]);
    const TensorId passed =
        program_.matmul(name, gradient, made_[layer - 1].weight, {batch_, from});
    gradient = program_.elementwise(fmt::format("sum_gradient{}", layer - 1), "relu_gradient",
                                    {made_[layer - 2].sum, passed});
  }
}

void Ffnn::update(size_t layer, TensorId gradient) {
  const Layer& made = made_[layer - 1];
  const IndexId from = layers_[layer - 1];
  const IndexId to = layers_[layer];
  const std::string name = fmt::format("W{}_gradient", layer);
  split_product(name, from, to, batch_);
  if (!spec_.split) sharding_.join_splits[{name, to}] = column_shards(to);
  descend(fmt::format("W{}", layer), made.weight,
          program_.matmul(name, made.input, gradient, {from, to}));
  descend(fmt::format("bias{}", layer), made.bias,
          program_.reduce(fmt::format("bias{}_gradient", layer), "reduce_sum", gradient, batch_));
}

void Ffnn::descend(const std::string& name, TensorId old, TensorId gradient) {
  const std::string step = name + "_step";
  const std::string next = name + "_next";
  const Indices indices = program_[old].indices;
  for (const std::string& statement : {step, next}) {
    if (indices.size() < 2) continue;
    set(statement, indices[0], spec_.split ? spec_.split->rows : 1);
    set(statement, indices[1], spec_.split ? spec_.split->columns : column_shards(indices[1]));
  }
  program_.elementwise(next, "subtract",
                       {old, program_.scale(step, gradient, spec_.learning_rate)});
}

Expert Ffnn::expert() const {
  if (spec_.split) return grid_expert(spec_.devices);
  return [this](const BlockPlace& place) {
    // What belongs to a part of the batch is with it; the rest belongs to weights, by columns.
    int64_t part = place.at(batch_);
    if (place.of(batch_) == 1 && !place.indices.empty()) part = place.at(place.indices.back());
    return static_cast<int32_t>(part % spec_.devices);
  };
}

Result<Sharded> Ffnn::make() {
  sharding_.dtype = spec_.dtype;
  sharding_.most_made = spec_.most_made;
  sharding_.splits[batch_] = spec_.split ? spec_.split->rows : spec_.data_shards;
  if (spec_.split) {
    for (const IndexId layer : layers_) sharding_.splits[layer] = spec_.split->columns;
  }
  TensorId x = program_.input("x", {batch_, layers_[0]});
  for (size_t layer = 1; layer < layers_.size(); ++layer) x = forward(layer, x);
  if (spec_.train) backward(x);
  sharding_.expert = expert();
  return shard(program_, sharding_);
}

}  // namespace

Result<Sharded> make_ffnn(const FfnnSpec& spec) {
  if (auto checked = check_devices(spec.devices); !checked) return checked.error();
  if (spec.sizes.size() < 2 || spec.sizes.size() > 1000) {
    return invalid_input("a network has from 2 to 1000 sizes: of its input and of each layer");
  }
  if (spec.batch < 1) return invalid_input("a batch has at least 1 row");
  return Ffnn(spec).make();
}

}  // namespace tutti
