#include <gtest/gtest.h>

#include "studies/doppler/rivals/gdp_net.h"
#include "studies/doppler/rivals/placeto_net.h"
#include "test/support/world.h"
#include "tutti/policy/doppler/model.h"

namespace tutti {
namespace {

const PlacetoShape kPlaceto{.width = 8, .rounds = 1};
const GdpShape kGdp{.width = 8, .layers = 1, .blocks = 1, .heads = 2, .segment = 4};

// The sentence with which the file is refused.
std::string refusal(const TensorFile& file) {
  const auto model = DopplerModel::load(file, "m.safetensors");
  EXPECT_FALSE(model);
  if (model) return "";
  EXPECT_EQ(model.error().kind, Error::Kind::invalid_input);
  EXPECT_EQ(model.error().message.find("m.safetensors: "), 0U) << model.error().message;
  return model.error().message;
}

TensorFile kept(const TensorFile& file) {
  Source source = Source::from_text("kept", tensors_to_bytes(file));
  return must(read_tensors(source));
}

TEST(RivalNetworks, KeepTheirShapeInTheirFile) {
  const auto placeto =
      must(PlacetoNet::load(kept(PlacetoNet::fresh({.width = 24, .rounds = 2}, 5)), "kept"));
  EXPECT_EQ(placeto.shape().width, 24);
  EXPECT_EQ(placeto.shape().rounds, 2);
  const GdpShape shape{.width = 24, .layers = 3, .blocks = 1, .heads = 3, .segment = 7};
  const auto gdp = must(GdpNet::load(kept(GdpNet::fresh(shape, 5)), "kept"));
  EXPECT_EQ(gdp.shape().width, 24);
  EXPECT_EQ(gdp.shape().layers, 3);
  EXPECT_EQ(gdp.shape().blocks, 1);
  EXPECT_EQ(gdp.shape().heads, 3);
  EXPECT_EQ(gdp.shape().segment, 7);
}

TEST(RivalNetworks, StartAsTheirSeedSays) {
  EXPECT_EQ(PlacetoNet::fresh(kPlaceto, 5).tensors, PlacetoNet::fresh(kPlaceto, 5).tensors);
  EXPECT_NE(PlacetoNet::fresh(kPlaceto, 5).tensors, PlacetoNet::fresh(kPlaceto, 6).tensors);
  EXPECT_EQ(GdpNet::fresh(kGdp, 5).tensors, GdpNet::fresh(kGdp, 5).tensors);
  EXPECT_NE(GdpNet::fresh(kGdp, 5).tensors, GdpNet::fresh(kGdp, 6).tensors);
}

TEST(RivalModels, MustTellNumbersInRange) {
  const std::pair<TensorFile, std::vector<const char*>> files[] = {
      {PlacetoNet::fresh(kPlaceto, 1), {"width", "rounds"}},
      {GdpNet::fresh(kGdp, 1), {"width", "layers", "blocks", "heads", "segment"}}};
  for (const auto& [good, keys] : files) {
    ASSERT_TRUE(DopplerModel::load(good, "test"));
    for (const char* key : keys) {
      TensorFile file = good;
      file.metadata.erase(key);
      EXPECT_NE(refusal(file).find(key), std::string::npos);
      for (const char* value : {"", "-8", "0x10", "99999999999999999999", "5000", "8 ", "1e1"}) {
        file.metadata[key] = value;
        EXPECT_NE(refusal(file).find(key), std::string::npos) << refusal(file);
      }
    }
  }
}

TEST(RivalModels, MustHaveWidthsThatDivide) {
  TensorFile file = PlacetoNet::fresh(kPlaceto, 1);
  file.metadata["width"] = "12";
  EXPECT_NE(refusal(file).find("multiple of 8"), std::string::npos);
  file = GdpNet::fresh(kGdp, 1);
  file.metadata["heads"] = "3";
  EXPECT_NE(refusal(file).find("of its heads"), std::string::npos);
}

TEST(RivalModels, MustHoldEveryTensorInItsShape) {
  for (const TensorFile& good : {PlacetoNet::fresh(kPlaceto, 1), GdpNet::fresh(kGdp, 1)}) {
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

TEST(RivalModels, CannotClaimMoreThanTheyHold) {
  TensorFile file = GdpNet::fresh(kGdp, 1);
  file.metadata["layers"] = "16";
  EXPECT_NE(refusal(file).find("no tensor 'layer1.send.weight'"), std::string::npos);
  file = PlacetoNet::fresh(kPlaceto, 1);
  file.metadata["width"] = "256";
  EXPECT_NE(refusal(file).find("has shape [8, 5], not [256, 5]"), std::string::npos);
}

}  // namespace
}  // namespace tutti
