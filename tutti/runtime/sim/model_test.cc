#include "tutti/runtime/sim/model.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(SimModel, IsThePhysicalOneUnlessSomebodySaysOtherwise) {
  EXPECT_EQ(SimModel(), SimModel::physical);
  EXPECT_EQ(SimModel::physical.name(), "physical");
  EXPECT_EQ(SimModel::physical.number(), 0);
  EXPECT_TRUE(SimModel::physical.follows_priorities());
  EXPECT_EQ(SimModel::physical.other(), nullptr);
}

TEST(SimModel, IsFoundByName) {
  EXPECT_EQ(sim_models(), std::vector<SimModel>{SimModel::physical});
  EXPECT_EQ(find_sim_model("physical"), SimModel::physical);
  EXPECT_EQ(find_sim_model("released"), std::nullopt);  // of a study
}

}  // namespace
}  // namespace tutti
