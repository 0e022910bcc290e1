#include <gtest/gtest.h>

#include "tutti/train/symphony/configuration.h"

namespace tutti {
namespace {

TEST(SymphonyConfiguration, NamesThatThereAreNotAreRefused) {
  for (const SymphonyConfiguration& one : symphony_configurations())
    EXPECT_TRUE(symphony_configuration(one.name));
  const auto refused = symphony_configuration("none");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("as-published"), std::string::npos);
}

}  // namespace
}  // namespace tutti
