#include "studies/doppler/published/encoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "studies/doppler/published/net.h"
#include "studies/doppler/published/unit.h"
#include "test/support/world.h"
#include "tutti/graph/make/chainmm.h"
#include "tutti/graph/make/layered.h"

namespace tutti {
namespace {

// Equal shards: most ops look like others.
Problem shards() {
  return must(Problem::make(must(make_chainmm({})).graph, must(make_preset("uniform-4"))));
}

EncoderWeights weights_of(const TensorFile& file, const TowerShape& shape) {
  const auto data = [&](const std::string& name) {
    const auto found = file.tensors.find("select." + name);
    return found == file.tensors.end() ? nullptr : found->second.data.data();
  };
  const auto layer = [&](const std::string& name) {
    return LayerWeights{.weight = data(name + ".weight"), .bias = data(name + ".bias")};
  };
  return {.width = shape.width,
          .columns = shape.op_columns,
          .steps = shape.steps,
          .embed = layer("embed"),
          .message = layer("message"),
          .message_matrix = layer("message_matrix"),
          .message_sum = layer("message_sum"),
          .gates_in = layer("gates_in"),
          .gates_state = layer("gates_state")};
}

TensorFile drawn_net(const PublishedShape& shape) {
  TensorFile file = PublishedNet::fresh(shape, 3);
  Rng rng(5);
  for (auto& [name, tensor] : file.tensors) {
    for (float& value : tensor.data) value += static_cast<float>(0.05 * rng.normal());
  }
  return file;
}

void expect_near(const std::vector<float>& a, const std::vector<float>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  double most = 1e-3;
  for (const float value : a) most = std::max(most, std::abs(static_cast<double>(value)));
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-4 * most) << what << " " << i;
}

TEST(MessageRounds, GiveOneRowToOpsThatLookAlike) {
  const PublishedFeatures features = published_features(shards());
  EXPECT_LT(2 * features.rounds.back().rows, features.ops);
  EXPECT_EQ(features.apart.back().rows, features.ops);
  for (const auto* rounds : {&features.rounds, &features.apart}) {
    const MessageRound& last = rounds->back();
    for (size_t row = 0; row < last.parent.size(); ++row) {
      EXPECT_EQ(last.parent[row], static_cast<int32_t>(row));  // nothing changes any more
    }
    float heard = 0;
    for (const int32_t row : last.row_of) {
      for (auto i = last.heard_begin[static_cast<size_t>(row)];
           i < last.heard_begin[static_cast<size_t>(row) + 1]; ++i) {
        heard += last.times[static_cast<size_t>(i)];
      }
    }
    EXPECT_EQ(heard, static_cast<float>(features.neighbours.size()));
  }
}

TEST(MessageRounds, TellOpsOfALongChainApart) {
  std::string text = R"("ops": [{"name": "0", "run_time_ns": 1})";
  for (int i = 1; i < 200; ++i) {
    text += ", {\"name\": \"" + std::to_string(i) + "\", \"operands\": [\"" +
            std::to_string(i - 1) + "\"], \"run_time_ns\": 1, \"transfer_time_ns\": [0]}";
  }
  const World world(graph_from(text + "]"), "uniform-2");
  const PublishedFeatures features = published_features(*world.problem);
  EXPECT_EQ(features.rounds.back().rows, 200);
}

TEST(Encoder, GivesTheSameWithOneRowForManyOps) {
  const PublishedShape shape{.width = 16, .steps = 3};
  const TensorFile file = drawn_net(shape);
  const PublishedFeatures features = published_features(shards());
  const Encoder encoder(weights_of(file, towers_of(shape).front()));
  const std::vector<float> matrices = encoder.matrices(features);
  EncoderTape merged, apart;
  const auto state =
      encoder.forward(features, features.rounds, matrices, features.op_rows.data(), &merged);
  expect_near(state,
              encoder.forward(features, features.apart, matrices, features.op_rows.data(), &apart),
              "state");
  std::vector<float> by(state.size());
  Rng rng(9);
  for (float& value : by) value = static_cast<float>(rng.normal());
  const EncoderGradient a =
      encoder.backward(features, features.rounds, matrices, merged, by.data());
  const EncoderGradient b = encoder.backward(features, features.apart, matrices, apart, by.data());
  expect_near(a.embed_weight, b.embed_weight, "embed.weight");
  expect_near(a.embed_bias, b.embed_bias, "embed.bias");
  expect_near(a.message_weight, b.message_weight, "message.weight");
  expect_near(a.message_bias, b.message_bias, "message.bias");
  expect_near(a.message_matrix_bias, b.message_matrix_bias, "message_matrix.bias");
  expect_near(a.message_sum_bias, b.message_sum_bias, "message_sum.bias");
  expect_near(a.gates_in_weight, b.gates_in_weight, "gates_in.weight");
  expect_near(a.gates_in_bias, b.gates_in_bias, "gates_in.bias");
  expect_near(a.gates_state_weight, b.gates_state_weight, "gates_state.weight");
  expect_near(a.gates_state_bias, b.gates_state_bias, "gates_state.bias");
  expect_near(a.by_matrices, b.by_matrices, "matrices");
}

TEST(Unit, IsTheGatedRecurrentUnit) {
  const float in[] = {0.5F, -90.0F, 3.0F};
  const float own[] = {-0.25F, 1.0F, -2.0F};
  const float state[] = {0.75F};
  float reset = 0, update = 0, fresh = 0, next = 0;
  apply_unit(in, own, state, 1,
             {.reset = &reset, .update = &update, .fresh = &fresh, .next = &next});
  EXPECT_NEAR(reset, 1 / (1 + std::exp(-0.25)), 1e-6);
  EXPECT_NEAR(update, 0, 1e-6);
  EXPECT_NEAR(fresh, std::tanh(3.0 - 2.0 * static_cast<double>(reset)), 1e-6);
  EXPECT_NEAR(next, fresh, 1e-6);
}

}  // namespace
}  // namespace tutti
