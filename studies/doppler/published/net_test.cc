#include "studies/doppler/published/net.h"

#include <gtest/gtest.h>

#include <cmath>

#include "test/support/world.h"
#include "tutti/policy/doppler/residual_net.h"

namespace tutti {
namespace {

using Learned = PublishedShape::Learned;

const PublishedShape kSmall{.width = 8, .steps = 1};

// The sentence with which both readers refuse the file.
std::string refusal(const TensorFile& file) {
  const auto published = PublishedNet::load(file, "m.safetensors");
  const auto residual = ResidualNet::load(file, "m.safetensors");
  EXPECT_FALSE(published || residual);
  if (published || residual) return "";
  const bool ours = file.metadata.contains("network") && file.metadata.at("network") == "published";
  const Error& error = ours ? published.error() : residual.error();
  EXPECT_EQ(error.kind, Error::Kind::invalid_input);
  EXPECT_EQ(error.message.find("m.safetensors: "), 0U) << error.message;
  return error.message;
}

TEST(PublishedNet, KeepsItsShapeInItsFile) {
  for (const auto learned : {Learned::both, Learned::select, Learned::place, Learned::joint}) {
    const PublishedShape shape{.learned = learned,
                               .width = 16,
                               .steps = 3,
                               .every_step = learned == Learned::both,
                               .bookkeeping = Bookkeeping::released};
    Source kept = Source::from_text("kept", tensors_to_bytes(PublishedNet::fresh(shape, 5)));
    const auto network = must(PublishedNet::load(must(read_tensors(kept)), "kept"));
    EXPECT_EQ(network.shape().learned, shape.learned);
    EXPECT_EQ(network.shape().width, shape.width);
    EXPECT_EQ(network.shape().steps, shape.steps);
    EXPECT_EQ(network.shape().every_step, shape.every_step);
    EXPECT_EQ(network.shape().bookkeeping, shape.bookkeeping);
    EXPECT_EQ(network.tower(TowerRole::joint) != nullptr, learned == Learned::joint);
    EXPECT_EQ(network.tower(TowerRole::select) != nullptr,
              learned == Learned::both || learned == Learned::select);
    EXPECT_EQ(network.tower(TowerRole::place) != nullptr,
              learned == Learned::both || learned == Learned::place);
  }
}

TEST(PublishedNet, StartsOrthogonalAndWithoutBias) {
  const TensorFile file = PublishedNet::fresh(kSmall, 5);
  EXPECT_EQ(file.tensors, PublishedNet::fresh(kSmall, 5).tensors);
  EXPECT_NE(file.tensors, PublishedNet::fresh(kSmall, 6).tensors);
  for (const auto& [name, tensor] : file.tensors) {
    if (tensor.shape.size() == 1) {
      for (const float value : tensor.data) EXPECT_EQ(value, 0) << name;
      continue;
    }
    const auto rows = static_cast<size_t>(tensor.shape[0]);
    const auto columns = static_cast<size_t>(tensor.shape[1]);
    const bool by_row = rows <= columns;
    const size_t count = by_row ? rows : columns;
    const auto at = [&, &data = tensor.data](size_t vector, size_t k) {
      return data[by_row ? vector * columns + k : k * columns + vector];
    };
    for (size_t a = 0; a < count; ++a) {
      for (size_t b = 0; b <= a; ++b) {
        double product = 0;
        for (size_t k = 0; k < (by_row ? columns : rows); ++k) product += at(a, k) * at(b, k);
        EXPECT_NEAR(product, a == b ? 1 : 0, 1e-5) << name;
      }
    }
  }
}

TEST(ModelFiles, MustNameANetworkThereIs) {
  TensorFile file = PublishedNet::fresh(kSmall, 1);
  file.metadata["network"] = "transformer";
  refusal(file);
  file.metadata.erase("network");
  refusal(file);
}

TEST(ModelFiles, MustTellNumbersInRange) {
  const char* wrong[] = {"", "-8", "0x10", "99999999999999999999", "1025", "7", "8 ", "1e1"};
  const std::pair<TensorFile, std::vector<const char*>> files[] = {
      {PublishedNet::fresh(kSmall, 1),
       {"width", "steps", "every_step", "released_bookkeeping", "learned"}},
      {ResidualNet::fresh({.width = 8, .second = 8, .rounds = 1}, 1),
       {"width", "second", "rounds", "one_pass", "device_columns", "contention"}}};
  for (const auto& [good, keys] : files) {
    for (const char* key : keys) {
      TensorFile file = good;
      file.metadata.erase(key);
      EXPECT_NE(refusal(file).find(key), std::string::npos);
      for (const char* value : wrong) {
        if (std::string(value) == "7" &&
            (std::string(key) == "rounds" || std::string(key) == "steps")) {
          continue;  // which need not be a multiple of anything
        }
        file.metadata[key] = value;
        EXPECT_NE(refusal(file).find(key), std::string::npos) << refusal(file);
      }
    }
  }
}

TEST(ModelFiles, MustHoldEveryTensorInItsShape) {
  for (const TensorFile& good :
       {PublishedNet::fresh(kSmall, 1),
        PublishedNet::fresh({.learned = Learned::joint, .width = 8, .steps = 1}, 1),
        ResidualNet::fresh({.width = 8, .second = 8, .rounds = 1}, 1)}) {
    for (const auto& [name, tensor] : good.tensors) {
      TensorFile file = good;
      file.tensors.erase(name);
      EXPECT_NE(refusal(file).find("'" + name + "'"), std::string::npos);
      file.tensors[name] = tensor;
      file.tensors[name].shape.push_back(1);
      EXPECT_NE(refusal(file).find("'" + name + "' has shape"), std::string::npos);
    }
  }
}

// A file that claims to be wide cannot make us allocate more than it holds: a tensor that is not
// there is missed before anything is made for it.
TEST(ModelFiles, CannotClaimMoreThanTheyHold) {
  TensorFile file = PublishedNet::fresh(kSmall, 1);
  file.metadata["width"] = "256";
  EXPECT_NE(refusal(file).find("has shape [8, 5], not [256, 5]"), std::string::npos);
}

}  // namespace
}  // namespace tutti
